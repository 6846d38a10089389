"""`max` and `min` of tensors choose one of them, as in Python.

    max(a, b)                              b if b > a else a
    max(xs, key=f)                         the first of the elements whose key is the largest

Dynamo takes them for torch.maximum, torch.minimum and torch.clamp, which differ: NaN wins whatever the order, two equal
ones share the gradient, and a Python number that is the largest becomes a tensor. It does not take keys.

Private: BuiltinVariable.call_function. tests/capture/test_extremes.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    TensorVariable,
    TupleVariable,
    UnspecializedPythonVariable,
    UserFunctionVariable,
)
from torch._dynamo.variables.builtin import BuiltinVariable

from autograph_torch.capture.patching import patched
from autograph_torch.runtime import extremes


@contextlib.contextmanager
def choosing_extremes() -> Iterator[None]:
    """While this is in force, `max` and `min` of values that are tensors in part ask one after the other."""
    built_in = BuiltinVariable.call_function

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn in (max, min) and len(args) == 1 and set(kwargs) == {"key"} and not kwargs["key"].is_constant_none():
            extreme_by: Any = extremes.extreme_by
            given = [ConstantVariable.create(self.fn is max), args[0], kwargs["key"]]
            return UserFunctionVariable(extreme_by).call_function(tx, given, {})
        values = _values(args) if self.fn in (max, min) and not kwargs else []
        if not any(map(_is_tensor, values)):
            return built_in(self, tx, args, kwargs)
        extreme: Any = extremes.extreme
        arguments = [ConstantVariable.create(self.fn is max), TupleVariable(list(values))]
        return UserFunctionVariable(extreme).call_function(tx, arguments, {})

    with patched(BuiltinVariable, call_function=call_builtin):
        yield


def _values(args: Any) -> Any:
    if len(args) != 1:
        return args
    only = args[0].realize()
    return only.items if isinstance(only, BaseListVariable) else []


def _is_tensor(variable: Any) -> bool:
    variable = variable.realize()
    return isinstance(variable, TensorVariable) and not isinstance(variable, UnspecializedPythonVariable)
