"""A torch that does not have a name that capture/ leans on: the error says so, names it, and says what to do.

    with known_torch():
        original = SuperVariable.var_getattr      RuntimeError: autograph-torch does not know torch 2.99: it has no
                                                  SuperVariable.var_getattr; use a torch from 2.11 to 2.15

Without that, a newer torch would end in an AttributeError from inside of this package.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

SUPPORTED = "use a torch from 2.11 to 2.15"


@contextlib.contextmanager
def known_torch() -> Iterator[None]:
    """Around what looks up private names of torch.

    Raises:
        RuntimeError: this version of torch does not have one of them.
    """
    try:
        yield
    except AttributeError as error:
        owner = getattr(error.obj, "__qualname__", None) or getattr(error.obj, "__name__", None)
        raise RuntimeError(_told(f"{owner}.{error.name}" if owner else str(error))) from error
    except ImportError as error:
        raise RuntimeError(_told(str(error.name))) from error


def _told(name: str) -> str:
    return f"autograph-torch does not know torch {torch.__version__}: it has no {name}; {SUPPORTED}"
