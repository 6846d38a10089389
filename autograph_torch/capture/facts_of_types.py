"""What torch tells of tensors by their types alone: Dynamo stops at functions that give no tensor.

    torch.result_type(x, 2.5)              torch.float32
    torch.can_cast(x.dtype, torch.int32)   False
    x.is_signed(), torch.is_signed(x)      True
    x.is_same_size(y)                      x.size() == y.size()
    x.is_conj(), x.is_neg()                False, of real numbers; refused where complex ones are met, which branches
                                           and loops do not hand out as eager does

Private: TorchInGraphFunctionVariable.call_function, TensorVariable.call_method, example values of nodes, nn_modules.
tests/capture/test_facts_of_types.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo.variables import BuiltinVariable, ConstantVariable, SymNodeVariable
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.tensor import TensorVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch.fx import GraphModule
from torch.utils import _pytree as pytree

from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing

_METHODS = ("is_signed", "is_same_size", "is_conj", "is_neg")
_NUMBERS = (bool, int, float, complex)


@contextlib.contextmanager
def facts_of_types() -> Iterator[None]:
    """While this is in force, such questions are answered."""
    call, call_method = TorchInGraphFunctionVariable.call_function, TensorVariable.call_method

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        answer = _FUNCTIONS.get(self.value)
        found = answer(tx, [one.realize() for one in args]) if answer is not None and not kwargs else None
        return call(self, tx, args, kwargs) if found is None else found

    def method_called(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        asks = name in _METHODS and type(self) is TensorVariable and not kwargs
        found = _FUNCTIONS[getattr(torch, name)](tx, [self, *[one.realize() for one in args]]) if asks else None
        return call_method(self, tx, name, args, kwargs) if found is None else found

    with (
        patched(TorchInGraphFunctionVariable, call_function=call_function),
        patched(TensorVariable, call_method=method_called),
    ):
        yield


def _result_type(tx: Any, args: list[Any]) -> Any:
    """By kinds: a tensor, one without dimensions, and a number of Python's count differently."""
    examples = [_example(one) for one in args]
    if len(examples) != 2 or any(one is None for one in examples):
        return None
    return VariableTracker.build(tx, torch.result_type(*examples))


def _example(value: Any) -> Any:
    if _are_tensors([value], 1) and value.ndim is not None:
        return torch.empty((1,) * value.ndim, dtype=value.dtype)
    kind = value.python_type() if isinstance(value, (SymNodeVariable, ConstantVariable)) else None
    return kind(0) if kind in _NUMBERS else None


def _can_cast(tx: Any, args: list[Any]) -> Any:
    if len(args) != 2 or not all(one.is_python_constant() for one in args):
        return None
    types = [one.as_python_constant() for one in args]
    if not all(isinstance(one, torch.dtype) for one in types):
        return None
    return ConstantVariable.create(torch.can_cast(*types))


def _is_signed(tx: Any, args: list[Any]) -> Any:
    if not _are_tensors(args, 1):
        return None
    return ConstantVariable.create(args[0].dtype.is_signed)


def _is_same_size(tx: Any, args: list[Any]) -> Any:
    if not _are_tensors(args, 2) or any(one.layout is not torch.strided for one in args):
        return None
    sizes = [one.call_method(tx, "size", [], {}) for one in args]
    return BuiltinVariable(operator.eq).call_function(tx, sizes, {})


def _is_conj(tx: Any, args: list[Any]) -> Any:
    return ConstantVariable.create(False) if _are_tensors(args, 1) and not args[0].dtype.is_complex else None


def _is_neg(tx: Any, args: list[Any]) -> Any:
    """Only the imaginary part of what is conjugated is, and what is made of it."""
    if not _are_tensors(args, 1) or _is_complex_among(tx) or args[0].as_proxy().node.meta["example_value"].is_neg():
        return None
    return ConstantVariable.create(False)


def _is_complex_among(tx: Any) -> bool:
    """Whether the trace has met complex numbers, in the bodies of its operators, too."""
    graphs = [one.graph for one in tx.output.nn_modules.values() if isinstance(one, GraphModule)]
    graphs += [tracer.graph for tracer in tracing.enclosing(tx.output.current_tracer)]
    values = pytree.tree_leaves([node.meta.get("example_value") for graph in graphs for node in graph.nodes])
    return any(isinstance(one, torch.Tensor) and (one.is_complex() or one.is_neg()) for one in values)


def _are_tensors(args: list[Any], count: int) -> bool:
    return len(args) == count and all(type(one) is TensorVariable and one.dtype is not None for one in args)


_FUNCTIONS: dict[Any, Callable[[Any, list[Any]], Any]] = {
    torch.result_type: _result_type,
    torch.can_cast: _can_cast,
    torch.is_signed: _is_signed,
    torch.is_same_size: _is_same_size,
    torch.is_conj: _is_conj,
    torch.is_neg: _is_neg,
}
