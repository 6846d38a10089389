"""`out=` with a target whose elements lie apart in memory, such as a column: the result is copied there.

    torch.arange(n + 1, out=table[:, 0])       target = table[:, 0]
                                               target.copy_(torch.arange(n + 1, dtype=target.dtype))

torch.compile refuses it. The call gives the target itself, as in eager. Left to that refusal is what is not the same in
eager: another size (which resizes), a dtype that eager does not cast to, or that changes how it computes (`torch.sum`),
random numbers (which are drawn in another order), and gradients (eager raises). An operand in the memory of the target
has to be the target, where the function works element by element, or to lie between its elements; else it is refused.

Private: TorchInGraphFunctionVariable.call_function. tests/capture/test_targets_with_gaps.py fails clearly when torch
changes it.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable
from torch._dynamo.variables.lists import BaseListVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch._ops import OpOverload, OpOverloadPacket

from autograph_torch.capture.graph_writes import storage_of
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.memories import overlaps_itself
from autograph_torch.runtime.refusal import raise_refusal

_IN_ITS_DTYPE = (torch.arange, torch.linspace, torch.logspace, torch.full, torch.zeros, torch.ones, torch.eye)
_NOT_WRITING = (torch.empty,)
_MANY = 4096  # elements whose places are compared


@contextlib.contextmanager
def targets_with_gaps() -> Iterator[None]:
    """While this is in force, such targets are written to."""
    called = TorchInGraphFunctionVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        target = kwargs["out"].realize() if "out" in kwargs else None
        if target is None or not target.is_tensor() or not _can_be_copied_to(self.value, target, args, kwargs):
            return called(self, tx, args, kwargs)
        given = {name: value for name, value in kwargs.items() if name != "out"}
        if self.value in _IN_ITS_DTYPE:
            given["dtype"] = ConstantVariable.create(_fake(target).dtype)
        result = called(self, tx, args, given)
        if not result.is_tensor() or not _is_cast(self.value, _fake(result), _fake(target)):
            return called(self, tx, args, kwargs)  # which refuses it
        target.call_method(tx, "copy_", [result], {})
        return target

    with patched(TorchInGraphFunctionVariable, call_function=call_function):
        yield


def _can_be_copied_to(function: Any, target: Any, args: Any, kwargs: Any) -> bool:
    """Whether eager would write the result to it, as far as the arguments tell.

    Raises:
        CaptureError: AG320, where an operand lies in the memory of the target.
    """
    fake = _fake(target)
    if fake is None or fake.layout != torch.strided or torch._prims_common.is_contiguous_or_false(fake):
        return False
    if function in _NOT_WRITING or isinstance(function, (OpOverload, OpOverloadPacket)) or _draws(function):
        return False
    if function in _IN_ITS_DTYPE and "dtype" in kwargs:
        return False
    repeats = overlaps_itself(fake)  # one place for several elements: eager raises, or writes there more than once
    operands = [_fake(one) for one in _tensors([*args, *(one for name, one in kwargs.items() if name != "out")])]
    records = torch.is_grad_enabled() and any(one is None or one.requires_grad for one in (fake, *operands))
    if repeats or records:
        return False
    for operand in operands:
        if operand is not None and not _are_apart(function, operand, fake):
            raise_refusal(
                "AG320",
                "what is written to by `out=` shares memory with what is read",
                "copy the operand before (`.clone()`), or write the result behind the call (`target.copy_(...)`)",
            )
    return True


def _is_cast(function: Any, result: torch.Tensor, target: torch.Tensor) -> bool:
    """Whether eager would put this result into the target, with the same values."""
    if result.device != target.device or result.layout != target.layout or result.shape != target.shape:
        return False
    casts = _has_tag(function, torch.Tag.pointwise) and torch.can_cast(result.dtype, target.dtype)
    return result.dtype == target.dtype or casts


def _draws(function: Any) -> bool:
    return _has_tag(function, torch.Tag.nondeterministic_seeded)


def _has_tag(function: Any, tag: torch.Tag) -> bool:
    found = getattr(torch.ops.aten, getattr(function, "__name__", ""), None)
    return found is not None and any(tag in getattr(found, name).tags for name in found.overloads())


def _are_apart(function: Any, operand: torch.Tensor, target: torch.Tensor) -> bool:
    """Whether what is written to a target does not change what is read of an operand."""
    if operand.layout != torch.strided or storage_of(operand) != storage_of(target):
        return True
    forms = [(one.dtype, *one.shape, *one.stride(), one.storage_offset()) for one in (operand, target)]
    if any(isinstance(number, torch.SymInt) for form in forms for number in form):
        return False
    if forms[0] == forms[1]:
        return _has_tag(function, torch.Tag.pointwise)
    few = max(operand.numel(), target.numel()) <= _MANY
    return few and operand.dtype == target.dtype and not _places(operand) & _places(target)


def _places(tensor: torch.Tensor) -> set[Any]:
    """Where in its memory the elements of a tensor lie."""
    forms = zip(tensor.shape, tensor.stride(), strict=True)
    steps = [[index * stride for index in range(size)] for size, stride in forms]
    return {tensor.storage_offset() + sum(place) for place in itertools.product(*steps)}


def _tensors(variables: Any) -> Iterator[Any]:
    for one in variables:
        value = one.realize()
        if isinstance(value, BaseListVariable):
            yield from _tensors(value.items)
        elif value.is_tensor():
            yield value


def _fake(variable: Any) -> Any:
    """What a trace knows of a tensor."""
    return variable.as_proxy().node.meta.get("example_value")
