"""Sizes that are tensors of no dimension, where torch reads their numbers itself: read before the call.

    F.pad(x, (0, n))               F.pad(x, (0, n.item()))         n a tensor of integers
    x.view(n, -1)                  x.view(n.item(), -1)
    x.repeat([n, 1])               x.repeat([n.item(), 1])

torch reads them while it looks at the arguments, where nobody tells the tracer of the new number: "Pending unbacked
symbols". A list of numbers and tensors together is one of sizes, unless it is made a tensor (`torch.tensor([1, n])`).

And `torch.arange(n)` has n elements only where n is not negative; otherwise it raises. Its size is known to be one.

Private: TorchInGraphFunctionVariable.call_function, TensorVariable.call_method, ShapeEnv.constrain_symbol_range.
tests/capture/test_size_arguments.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, TensorVariable, TorchInGraphFunctionVariable
from torch._dynamo.variables.lists import ListVariable, TupleVariable

from autograph_torch.capture.patching import patched

_MAKE_TENSORS = (torch.tensor, torch.as_tensor, torch.asarray, torch.is_tensor)
_PADS = (torch.nn.functional.pad, torch._C._nn.pad)
_TAKE_SIZES = ("view", "reshape", "expand", "repeat", "new_zeros", "new_ones", "new_empty")


@contextlib.contextmanager
def size_arguments() -> Iterator[None]:
    """While converted functions are traced."""
    called, of_tensor = TorchInGraphFunctionVariable.call_function, TensorVariable.call_method

    def call_torch(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.value in _MAKE_TENSORS:
            return called(self, tx, args, kwargs)
        only_sizes = self.value in _PADS
        args = [arg if k == 0 else _read(arg, tx, only_sizes) for k, arg in enumerate(args)]
        kwargs = {key: _read(value, tx, only_sizes and key == "pad") for key, value in kwargs.items()}
        made = called(self, tx, args, kwargs)
        if self.value is torch.arange and len(args) == 1:
            _is_a_size(args[0])
        return made

    def call_tensor(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name in _TAKE_SIZES:
            args = [_number(arg, tx) if _is_size(arg) else _read(arg, tx, True) for arg in args]
        return of_tensor(self, tx, name, args, kwargs)

    with (
        patched(TorchInGraphFunctionVariable, call_function=call_torch),
        patched(TensorVariable, call_method=call_tensor),
    ):
        yield


def _read(argument: Any, tx: Any, only_sizes: bool) -> Any:
    """A list or tuple of sizes with numbers in the place of tensors; anything else as it is."""
    found = argument.realize()
    if type(found) not in (ListVariable, TupleVariable):
        return argument
    items = [item.realize() for item in found.items]
    tensors = [_is_size(item) for item in items]
    if not any(tensors) or not all(is_tensor or _is_int(item) for is_tensor, item in zip(tensors, items, strict=True)):
        return argument
    if all(tensors) and not only_sizes:
        return argument  # tensors to be stacked
    return type(found)([_number(item, tx) if _is_size(item) else item for item in items])


def _is_size(variable: Any) -> bool:
    found = variable.realize()
    if type(found) is not TensorVariable:
        return False
    value = found.as_proxy().node.meta["example_value"]
    return value.ndim == 0 and not value.is_floating_point() and not value.is_complex() and value.dtype != torch.bool


def _is_int(variable: Any) -> bool:
    if isinstance(variable, ConstantVariable):
        return type(variable.value) is int
    return isinstance(variable, SymNodeVariable) and isinstance(variable.sym_num, torch.SymInt)


def _number(variable: Any, tx: Any) -> Any:
    return variable.call_method(tx, "item", [], {})


def _is_a_size(variable: Any) -> None:
    """What the tracer learns when the call has been made."""
    number = getattr(variable.realize(), "sym_num", None)
    expression = getattr(getattr(number, "node", None), "expr", None)
    if isinstance(number, torch.SymInt) and expression is not None and expression.is_symbol:
        number.node.shape_env.constrain_symbol_range(expression, compiler_min=0, compiler_max=2**63 - 1)
