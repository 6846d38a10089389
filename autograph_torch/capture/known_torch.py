"""A torch that does not have a name that capture/ leans on: the error says so, names it, and says what to do.

    with known_torch():
        original = SuperVariable.var_getattr      RuntimeError: autograph-torch does not know torch 2.99: it has no
                                                  SuperVariable.var_getattr; use a torch from 2.11 to 2.13

Without that, a newer torch would end in an AttributeError from inside of this package; or, worse, in results that
differ from eager's without a message. So one that is newer than the newest that all tests have passed on is refused,
too: with 2.14 and 2.15 most of them pass, but writes to some dicts are lost.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

NEWEST = (2, 13)
SUPPORTED = "use a torch from 2.11 to 2.13"


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


def is_before(*version: int) -> bool:
    """Whether this torch is older: for where it behaves in another way, and no name tells."""
    return _version() < version


def _version() -> tuple[int, ...]:
    return tuple(int(part) for part in torch.__version__.split(".")[:2])


def refuse_newer_torch() -> None:
    """Before a function is compiled.

    Raises:
        RuntimeError: this version of torch is newer than what is known to give eager's results.
    """
    if _version() > NEWEST:
        found = f"autograph-torch has not been tested with torch {torch.__version__}, where results may be wrong"
        raise RuntimeError(f"{found}; {SUPPORTED}")
