"""`max` and `min` of tensors choose one of them, as in Python.

    max(a, b)                              b if b > a else a
    max(xs, key=f, default=0)              the first of the elements whose key is the largest
    max(best, (score, k))                  the same question, of tuples (capture/sequence_order.py)
    min(versions)                          and of objects whose class says what `<` is
    max(found, tried)                      truth values from data, for which torch has neither
    min(losses.values())                   elements of anything that can be iterated over

Dynamo takes them for torch.maximum, torch.minimum and torch.clamp, which differ: NaN wins whatever the order, two equal
ones share the gradient, and a Python number that is the largest becomes a tensor. It takes neither keys nor defaults.
And what they give is one of the values itself: a write to either is one to both. Of the elements of a tensor it is a
view; of two tensors without dimensions a copy, of which shared_results.py knows what it may be in eager.

Private: BuiltinVariable.call_function. tests/capture/test_extremes.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    NumpyNdarrayVariable,
    TensorVariable,
    TupleVariable,
    UnspecializedPythonVariable,
    UserFunctionVariable,
)
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builtin import BuiltinVariable

from autograph_torch.capture.finished import check_at_the_end
from autograph_torch.capture.flags import is_flag
from autograph_torch.capture.operators_of_objects import defines
from autograph_torch.capture.patching import patched
from autograph_torch.capture.sequence_order import may_differ
from autograph_torch.capture.shared_results import keep_writes
from autograph_torch.runtime import extremes
from autograph_torch.runtime.memories import EITHER_OF


@contextlib.contextmanager
def choosing_extremes() -> Iterator[None]:
    """While this is in force, `max` and `min` of values that are tensors in part ask one after the other."""
    built_in = BuiltinVariable.call_function

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn in (max, min) and _asks_more(args, kwargs):
            extreme_by: Any = extremes.extreme_or if "default" in kwargs else extremes.extreme_by
            items = args[0] if len(args) == 1 else TupleVariable(list(args))
            return UserFunctionVariable(extreme_by).call_function(
                tx, [ConstantVariable.create(self.fn is max), items], kwargs
            )
        if self.fn not in (max, min) or kwargs:
            return built_in(self, tx, args, kwargs)
        if len(args) == 1 and not isinstance(args[0].realize(), (BaseListVariable, TensorVariable, ConstantVariable)):
            args = [VariableTracker.build(tx, list).call_function(tx, args, {})]  # an iterator, a dict or its values
        if len(args) == 1 and _is_tensor(args[0]) and not isinstance(args[0].realize(), NumpyNdarrayVariable):
            of_rows: Any = extremes.extreme_of_rows
            given = [ConstantVariable.create(self.fn is max), args[0]]
            return UserFunctionVariable(of_rows).call_function(tx, given, {})
        values = _values(args)
        if not any(_is_tensor(value) or may_differ(value) or _has_order(value) or is_flag(value) for value in values):
            return built_in(self, tx, args, kwargs)
        extreme: Any = extremes.extreme
        arguments = [ConstantVariable.create(self.fn is max), TupleVariable(list(values))]
        return UserFunctionVariable(extreme).call_function(tx, arguments, {})

    with patched(BuiltinVariable, call_function=call_builtin):
        yield


def _note_either(parent: Any, given: dict[str, Any]) -> dict[str, Any]:
    nodes = [given[name].realize().as_proxy().node for name in ("chosen", "one", "other")]
    check_at_the_end(parent.output, keep_writes)
    nodes[0].meta[EITHER_OF] = tuple(node.meta["example_value"] for node in nodes[1:])
    return {}


EITHER: dict[types.CodeType, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {
    extremes.note_either.__code__: _note_either
}


def _asks_more(args: Any, kwargs: Any) -> bool:
    """Whether it is a call with a key, or of one iterable with a default. (Of several values Python refuses that.)"""
    if not args or not kwargs.keys() <= {"key", "default"}:
        return False
    if "default" in kwargs:
        return len(args) == 1
    return "key" in kwargs and not kwargs["key"].is_constant_none()


def _values(args: Any) -> Any:
    if len(args) != 1:
        return args
    only = args[0].realize()
    return only.items if isinstance(only, BaseListVariable) else []


def _has_order(variable: Any) -> bool:
    """Whether it is an object that is compared by a method in Python. (Dynamo refuses all of them.)"""
    return any(defines(variable.realize(), name) for name in ("__lt__", "__gt__"))


def _is_tensor(variable: Any) -> bool:
    variable = variable.realize()
    return isinstance(variable, TensorVariable) and not isinstance(variable, UnspecializedPythonVariable)
