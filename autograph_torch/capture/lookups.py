"""`getattr` with a default and `hasattr` run what the class runs for an attribute once, as Python does.

    rate = getattr(state, "rate", None)        a property or `__getattr__` that counts, stores, prints
    if hasattr(state, "cache"): ...

Dynamo (torch 2.13, plain torch.compile, too) follows it twice, and has the guards of every call ask the object itself,
which runs the program's own code behind its back. Here it is followed as a `try` around the attribute.

Private: how the variables of the two functions are called.
tests/capture/test_lookups.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import UserDefinedObjectVariable, UserFunctionVariable

from autograph_torch.capture.dynamo_names import GETATTR, HASATTR
from autograph_torch.capture.patching import patched
from autograph_torch.capture.presence import runs_code
from autograph_torch.runtime.lookups import attribute_or, has_attribute


@contextlib.contextmanager
def lookups() -> Iterator[None]:
    """While this is in force, they do."""
    with _asking(GETATTR, getattr, 3, attribute_or), _asking(HASATTR, hasattr, 2, has_attribute):
        yield


@contextlib.contextmanager
def _asking(kind: Any, function: Any, count: int, instead: Any) -> Iterator[None]:
    call = kind.call_function

    def called(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        asks = getattr(self, "fn", function) is function and len(args) == count and not kwargs
        if not asks or not _runs_code(args):
            return call(self, tx, args, kwargs)
        return UserFunctionVariable(instead).call_function(tx, list(args), {})

    with patched(kind, call_function=called):
        yield


def _runs_code(args: Any) -> bool:
    """Whether the class of an object has code of its own for the attribute."""
    owner, name = args[0].realize(), args[1]
    if not isinstance(owner, UserDefinedObjectVariable) or not name.is_python_constant():
        return False
    return runs_code(owner.python_type(), name.as_python_constant())
