"""Members of an enumeration that are strings or numbers, too, do what those do; what is no member raises.

    class Mode(str, Enum): MEAN = "mean"

    Mode.MEAN.upper()                  Dynamo knows no methods of `str` on it
    Mode.MEAN + "_batch"               Dynamo gives NotImplemented (torch 2.13): the result is wrong
    names[Index.LAST]                  Dynamo never comes to an end
    Mode("median")                     Dynamo stops with the ValueError, for which the program may have a handler

What the enumeration itself defines in Python is traced; what it has from `str`, `int` or `float` is asked of the value.

Private: UserDefinedObjectVariable.call_method, UserDefinedClassVariable.call_function, EnumVariable and
BuiltinVariable.call_function.
tests/capture/test_enum_members.py shows the errors without this, and fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import enum
import inspect
import operator
import types
from collections.abc import Iterator
from typing import Any

from torch._dynamo import variables
from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    GetAttrVariable,
    UserDefinedClassVariable,
    UserDefinedObjectVariable,
)
from torch._dynamo.variables.builtin import BuiltinVariable

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.patching import patched

_IN_C = (types.MethodDescriptorType, types.WrapperDescriptorType)
_CONSTANT: Any = getattr(variables, "EnumVariable", None)  # torch 2.11
_MEMBERS = (UserDefinedObjectVariable, *(() if _CONSTANT is None else (_CONSTANT,)))
_OPERATORS = {operator.add: "__add__", operator.mul: "__mul__"}


@contextlib.contextmanager
def enum_members() -> Iterator[None]:
    """While this is in force, such members are strings and numbers."""
    called, built_in = UserDefinedObjectVariable.call_method, BuiltinVariable.call_function

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        plain = None if name.startswith("__") else plain_value(self, name)
        return called(self, tx, name, args, kwargs) if plain is None else plain.call_method(tx, name, args, kwargs)

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is operator.mod and len(args) == 2:
            args = [
                plain_value(args[0], "__mod__") or args[0],
                args[1],
            ]  # `"%s" % Mode.MEAN` asks the member for its text
        elif self.fn in _OPERATORS:
            args = [plain_value(arg, _OPERATORS[self.fn]) or arg for arg in args]
        elif self.fn is operator.getitem and len(args) == 2 and isinstance(args[0].realize(), BaseListVariable):
            args = [args[0], plain_value(args[1], "__index__") or args[1]]
        return built_in(self, tx, args, kwargs)

    look_up = UserDefinedClassVariable.call_function

    def call_class(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        try:
            return look_up(self, tx, args, kwargs)
        except ValueError as error:
            if not issubclass(self.value, enum.Enum):
                raise
            raise_observed_exception(ValueError, tx, args=[str(error)])

    with (
        patched(UserDefinedClassVariable, call_function=call_class),
        patched(UserDefinedObjectVariable, call_method=call_method),
        patched(BuiltinVariable, call_function=call_builtin),
        _constants(),
    ):
        yield


@contextlib.contextmanager
def _constants() -> Iterator[None]:
    """The same for members of torch 2.11, which are constants there."""
    if _CONSTANT is None:
        yield
        return
    get: Any = getattr(_CONSTANT, GET_ATTRIBUTE)

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        plain = None if name.startswith("__") else plain_value(self, name)
        return get(self, tx, name) if plain is None else GetAttrVariable(plain, name)

    with patched(_CONSTANT, **{GET_ATTRIBUTE: get_attribute}):
        yield


def is_member(variable: Any) -> bool:
    """Whether a value of the trace is a member of an enumeration."""
    return isinstance(variable, _MEMBERS) and isinstance(variable.value, enum.Enum)


def plain_value(variable: Any, name: str) -> Any:
    """The string or number that a member of an enumeration is, where it has the method from there; else None."""
    found = variable.realize()
    member = found.value if isinstance(found, _MEMBERS) else None
    if not isinstance(member, enum.Enum) or not isinstance(member, (str, int, float)):
        return None
    method = inspect.getattr_static(type(member), name, None)
    if not isinstance(method, _IN_C) or method.__objclass__ not in (str, int, float):
        return None
    return ConstantVariable.create(method.__objclass__(member.value))
