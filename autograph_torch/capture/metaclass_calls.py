"""What the class of a class says of it is followed: calls of `Model(x)`, properties, and whose objects are its own.

    class Counting(type):
        def __call__(cls, *args):            a single object for all calls, a list of what has been made
            made = super().__call__(*args)
            cls.count += 1
            return made

        @property
        def rate(cls):                       Model.rate
            return cls.count * 0.5

        def __instancecheck__(cls, one):     isinstance(one, Model)
            return one.ready

Dynamo (torch 2.13) makes an object, and leaves the metaclass out; the others it calls in Python while it traces, and in
the guards of every call, with the classes and objects as they were before the call. (It knows the metaclasses of the
standard library, enum's say.)

Private: UserDefinedClassVariable.call_function and how it gives attributes, BuiltinVariable.call_function,
SuperVariable.call_method and its `typevar` and `objvar`.
tests/capture/test_metaclass_calls.py shows what torch does without this.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import BuiltinVariable, UserDefinedClassVariable, UserFunctionVariable
from torch._dynamo.variables.misc import SuperVariable

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.patching import patched
from autograph_torch.capture.policy import LIBRARIES


@contextlib.contextmanager
def metaclass_calls() -> Iterator[None]:
    """While this is in force, they are."""
    call, call_above = UserDefinedClassVariable.call_function, SuperVariable.call_method
    look_up, built_in = getattr(UserDefinedClassVariable, GET_ATTRIBUTE), BuiltinVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        method = _followed(self, "__call__")
        return call(self, tx, args, kwargs) if method is None else _call(method, tx, [self, *args], kwargs)

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "__call__" and isinstance(self.objvar, UserDefinedClassVariable) and _is_last(self):
            return call(self.objvar, tx, args, kwargs)
        return call_above(self, tx, name, args, kwargs)

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        getter = _followed(self, name, property)
        return look_up(self, tx, name) if getter is None else _call(getter, tx, [self], {})

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        kind: Any = args[1].realize() if self.fn is isinstance and len(args) == 2 else None
        check = _followed(kind, "__instancecheck__") if isinstance(kind, UserDefinedClassVariable) else None
        if check is None or args[0].python_type() is kind.value:  # then Python does not ask
            return built_in(self, tx, args, kwargs)
        return BuiltinVariable(bool).call_function(tx, [_call(check, tx, [kind, args[0]], {})], {})

    classes: Any = {"call_function": call_function, GET_ATTRIBUTE: get_attribute}
    with (
        patched(UserDefinedClassVariable, **classes),
        patched(BuiltinVariable, call_function=call_builtin),
        patched(SuperVariable, call_method=call_method),
    ):
        yield


def _followed(variable: Any, name: str, of: type | None = None) -> Any:
    """The function that the metaclass of a class has by a name, or the getter of a property, if it is the program's."""
    found = inspect.getattr_static(type(variable.value), name, None)
    if of is property:
        found = found.fget if type(found) is property else None
    return found if inspect.isfunction(found) and found.__module__.partition(".")[0] not in LIBRARIES else None


def _call(function: Any, tx: Any, args: Any, kwargs: Any) -> Any:
    return UserFunctionVariable(function).call_function(tx, args, kwargs)


def _is_last(above: Any) -> bool:
    """Whether what `super()` leads to is the call of `type`."""
    classes = type(above.objvar.value).__mro__
    behind = classes[classes.index(above.typevar.as_python_constant()) + 1 :]
    return next(kind for kind in behind if "__call__" in vars(kind)) is type
