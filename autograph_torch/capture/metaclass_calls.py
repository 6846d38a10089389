"""`Model(x)` of a class whose own class says what a call of it does: that is followed.

    class Counting(type):
        def __call__(cls, *args):            a single object for all calls, a list of what has been made
            made = super().__call__(*args)
            cls.count += 1
            return made

Dynamo (torch 2.13) makes an object, and leaves the metaclass out. (It knows those of the standard library, enum's say.)

Private: UserDefinedClassVariable.call_function, SuperVariable.call_method and its `typevar` and `objvar`.
tests/capture/test_metaclass_calls.py shows what torch does without this.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import UserDefinedClassVariable, UserFunctionVariable
from torch._dynamo.variables.misc import SuperVariable

from autograph_torch.capture.patching import patched
from autograph_torch.capture.policy import LIBRARIES


@contextlib.contextmanager
def metaclass_calls() -> Iterator[None]:
    """While this is in force, it is."""
    call, call_above = UserDefinedClassVariable.call_function, SuperVariable.call_method

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        method = inspect.getattr_static(type(self.value), "__call__", None)
        if not inspect.isfunction(method) or method.__module__.partition(".")[0] in LIBRARIES:
            return call(self, tx, args, kwargs)
        return UserFunctionVariable(method).call_function(tx, [self, *args], kwargs)

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "__call__" and isinstance(self.objvar, UserDefinedClassVariable) and _is_last(self):
            return call(self.objvar, tx, args, kwargs)
        return call_above(self, tx, name, args, kwargs)

    with (
        patched(UserDefinedClassVariable, call_function=call_function),
        patched(SuperVariable, call_method=call_method),
    ):
        yield


def _is_last(above: Any) -> bool:
    """Whether what `super()` leads to is the call of `type`."""
    classes = type(above.objvar.value).__mro__
    behind = classes[classes.index(above.typevar.as_python_constant()) + 1 :]
    return next(kind for kind in behind if "__call__" in vars(kind)) is type
