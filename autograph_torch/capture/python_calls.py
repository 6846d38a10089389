"""Calls of Python and torch functions that Dynamo does not take, in a form that it takes.

    dict.copy(d)              d.copy()                                      (so `copy.copy` works on containers)
    sorted(d.items())         by the keys alone: no two are the same, so no value is ever compared
    torch.arange(n)           torch.arange(n.item()), for n a tensor
    torch.squeeze(x)          x.squeeze(), which capture/views.py looks after
    F.one_hot(x)              ag.one_hot(x): the data tell the number of classes
    super().prop              the property of the base class, called
    divmod(n, 2)              (n // 2, n % 2), for n an integer that depends on data

Private names of Dynamo: SkipFunctionVariable, ListVariable.call_method, TorchInGraphFunctionVariable, SuperVariable,
BuiltinVariable.
tests/capture/test_python_calls.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import operator
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable, ListVariable, SymNodeVariable, TupleVariable
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.functions import SkipFunctionVariable, UserFunctionVariable
from torch._dynamo.variables.misc import SuperVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable

from autograph_torch.runtime import queries


@contextlib.contextmanager
def python_calls() -> Iterator[None]:
    """While this is in force, these calls are taken."""
    skipped, listed = SkipFunctionVariable.call_function, ListVariable.call_method
    built_in = BuiltinVariable.call_function
    called, looked_up = TorchInGraphFunctionVariable.call_function, SuperVariable.var_getattr

    def call_skipped(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        method = self.value
        if isinstance(method, types.MethodDescriptorType) and args and _is_of(args[0], method.__objclass__):
            return args[0].call_method(tx, method.__name__, list(args[1:]), kwargs)
        return skipped(self, tx, args, kwargs)

    def call_list(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "sort" and set(kwargs) <= {"reverse", "key"} and _has_distinct_keys(self, kwargs):
            backwards = kwargs.get("reverse", ConstantVariable.create(False)).as_python_constant()
            tx.output.side_effects.mutation(self)
            self.items[:] = sorted(self.items, key=_first, reverse=backwards)
            return ConstantVariable.create(None)
        return listed(self, tx, name, args, kwargs)

    def call_torch(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.value is torch.arange:
            args = [arg.call_method(tx, "item", [], {}) if arg.is_tensor() else arg for arg in args]
        if self.value is torch.squeeze and args and args[0].is_tensor():
            return args[0].call_method(tx, "squeeze", list(args[1:]), kwargs)
        if self.value is torch.nn.functional.one_hot and len(args) == 1 and not kwargs and _is_int64(args[0]):
            one_hot: Any = queries.one_hot
            return UserFunctionVariable(one_hot).call_function(tx, list(args), {})
        return called(self, tx, args, kwargs)

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is divmod and len(args) == 2 and any(isinstance(arg, SymNodeVariable) for arg in args):
            parts = [BuiltinVariable(fn).call_function(tx, list(args), {}) for fn in (operator.floordiv, operator.mod)]
            return TupleVariable(parts)
        return built_in(self, tx, args, kwargs)

    def getattr_of_super(self: Any, tx: Any, name: str) -> Any:
        value, _ = self._resolved_getattr_and_source(tx, name)
        if isinstance(value, property) and isinstance(value.fget, types.FunctionType):
            return UserFunctionVariable(value.fget).call_function(tx, [self.objvar], {})
        return looked_up(self, tx, name)

    SkipFunctionVariable.call_function = call_skipped  # type: ignore[method-assign]
    ListVariable.call_method = call_list  # type: ignore[method-assign]
    TorchInGraphFunctionVariable.call_function = call_torch  # type: ignore[method-assign]
    SuperVariable.var_getattr = getattr_of_super  # type: ignore[method-assign]
    BuiltinVariable.call_function = call_builtin  # type: ignore[method-assign]
    try:
        yield
    finally:
        SkipFunctionVariable.call_function = skipped  # type: ignore[method-assign]
        ListVariable.call_method = listed  # type: ignore[method-assign]
        TorchInGraphFunctionVariable.call_function = called  # type: ignore[method-assign]
        SuperVariable.var_getattr = looked_up  # type: ignore[method-assign]
        BuiltinVariable.call_function = built_in  # type: ignore[method-assign]


def _is_int64(variable: Any) -> bool:
    return variable.is_tensor() and variable.realize().as_proxy().node.meta["example_value"].dtype == torch.int64


def _is_of(variable: Any, owner: type) -> bool:
    try:
        return owner in (dict, list, set, tuple, str) and variable.python_type() is owner
    except NotImplementedError:
        return False


def _has_distinct_keys(variable: Any, kwargs: Any) -> bool:
    """Whether it is a list of pairs with different strings in front, and something that is no constant behind."""
    if "key" in kwargs and not kwargs["key"].is_constant_none():
        return False
    items = [item.realize() for item in variable.items]
    if not all(isinstance(item, TupleVariable) and item.items for item in items):
        return False
    if all(item.is_python_constant() for item in items):
        return False
    keys = [item.items[0] for item in items]
    known = all(key.is_python_constant() and isinstance(key.as_python_constant(), str) for key in keys)
    return known and len({key.as_python_constant() for key in keys}) == len(keys)


def _first(item: Any) -> Any:
    return item.items[0].as_python_constant()
