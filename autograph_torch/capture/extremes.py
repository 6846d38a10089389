"""`max` and `min` of tensors choose one of them, as in Python.

    max(a, b)                              b if b > a else a
    max(xs, key=f)                         the first of the elements whose key is the largest
    max(best, (score, k))                  the same question, of tuples (capture/sequence_order.py)

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
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.functions import LocalGeneratorObjectVariable

from autograph_torch.capture.patching import patched
from autograph_torch.capture.sequence_order import may_differ
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
        if self.fn not in (max, min) or kwargs:
            return built_in(self, tx, args, kwargs)
        if len(args) == 1 and isinstance(args[0].realize(), LocalGeneratorObjectVariable):
            args = [VariableTracker.build(tx, list).call_function(tx, args, {})]
        values = _values(args)
        if not any(_is_tensor(value) or may_differ(value) for value in values):
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
