"""torch.logsumexp and losses, of a tensor whose size depends on data, and which may be empty.

    torch.logsumexp(x[x > 0], dim=0)
    F.cross_entropy(logits[mask], target[mask])

torch's definitions of these operators ask whether there is any element, where only data can tell, or divide by their
number while they are traced.

- logsumexp: an empty tensor has no maximum. One more element is thought of: -inf, whose exponential adds nothing. (What
  runs with the backend `eager` is torch's own kernel; the definition tells its result's size, and is what compilers are
  given.)
- nll_loss: its result is made of another operator, for which empty tensors are nothing special.
- The gradients of mse_loss, smooth_l1_loss and huber_loss: of no element there is none to be divided.

Private: torch._decomp.decomposition_table, Inductor's copy of it, and op_implementations_dict, with which torch tells
the sizes of results.
tests/capture/test_empty_tensors.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch._inductor.decomposition import decompositions as decompositions_of_inductor
from torch._subclasses.fake_impls import op_implementations_dict
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols, statically_known_true

_LOG_SUM_EXP = torch.ops.aten.logsumexp.default
_LOSS = torch.ops.aten.nll_loss.default
_OF_DIFFERENCES = (
    torch.ops.aten.mse_loss_backward.default,
    torch.ops.aten.smooth_l1_loss_backward.default,
    torch.ops.aten.huber_loss_backward.default,
)
_SUM = 2  # the reduction, by its number (at::Reduction)


@contextlib.contextmanager
def empty_tensors() -> Iterator[None]:
    """While this is in force, these operators take tensors of unknown size."""
    tables: tuple[dict[Any, Any], ...] = (decomposition_table, decompositions_of_inductor)
    makers = {_LOG_SUM_EXP: _log_sum_exp, _LOSS: _loss, **dict.fromkeys(_OF_DIFFERENCES, _of_differences)}
    for operator in _OF_DIFFERENCES:
        op_implementations_dict.setdefault(operator, _sizes)
    found = [(table, operator, table[operator]) for table in tables for operator in makers if operator in table]
    for table, operator, original in found:
        table[operator] = makers[operator](original)
    try:
        yield
    finally:
        for table, operator, original in found:
            table[operator] = original


def _log_sum_exp(original: Callable[..., Any]) -> Callable[..., Any]:
    def logsumexp(self: torch.Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Any:
        dims = [dim] if isinstance(dim, int) else list(dim)
        if not dims or not self.ndim or self.is_complex() or not _from_data(self.numel()):
            return original(self, dim, keepdim)
        terms = self if self.is_floating_point() else self.to(torch.get_default_dtype())
        largest = torch.amax(_with_one_more(terms, dims), dims, keepdim=True)
        largest = torch.masked_fill(largest, largest.abs() == torch.inf, 0)
        total = torch.sum(torch.exp(terms - largest), dims, keepdim=True).log() + largest
        return total if keepdim else torch.squeeze(total, dims)

    return logsumexp


def _loss(original: Callable[..., Any]) -> Callable[..., Any]:
    def nll_loss(self: torch.Tensor, target: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        decomposed = _LOSS.decompose(self, target, *args, **kwargs) if _from_data(self.numel()) else NotImplemented
        return original(self, target, *args, **kwargs) if decomposed is NotImplemented else decomposed

    return nll_loss


def _of_differences(original: Callable[..., Any]) -> Callable[..., Any]:
    def backward(grad_output: torch.Tensor, self: torch.Tensor, target: torch.Tensor, reduction: int, *by: Any) -> Any:
        return original(grad_output, self, target, _SUM if _is_empty(self) else reduction, *by)

    return backward


def _sizes(mode: Any, operator: Any, grad_output: Any, self: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
    if not _is_empty(self):
        return NotImplemented
    with mode:
        return self - target


def _is_empty(tensor: torch.Tensor) -> bool:
    return statically_known_true(tensor.numel() == 0)


def _with_one_more(tensor: torch.Tensor, dims: list[int]) -> torch.Tensor:
    """With -inf behind the elements of each of these dimensions whose size depends on data."""
    for dim in dims:
        if _from_data(tensor.shape[dim]):
            sizes = list(tensor.shape)
            sizes[dim] = 1
            tensor = torch.cat([tensor, tensor.new_full(sizes, -torch.inf)], dim)
    return tensor


def _from_data(number: int | torch.SymInt) -> bool:
    return isinstance(number, torch.SymInt) and has_free_unbacked_symbols(number.node.expr)
