"""torch.logsumexp of a tensor whose size depends on data, and which may be empty.

    torch.logsumexp(x[x > 0], dim=0)

torch's definition of the operator asks whether there is any element, because an empty tensor has no maximum. Where
only data can tell, one more element is thought of: -inf, whose exponential adds nothing. (What runs with the backend
`eager` is torch's own kernel; the definition tells its result's size, and is what compilers are given.)

Private name: torch._decomp.decomposition_table, and Inductor's copy of it.
tests/capture/test_log_sum_exp.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch._inductor.decomposition import decompositions as decompositions_of_inductor
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

_OPERATOR = torch.ops.aten.logsumexp.default


@contextlib.contextmanager
def sums_of_none() -> Iterator[None]:
    """While this is in force, torch.logsumexp takes tensors of unknown size."""
    tables: tuple[dict[Any, Any], ...] = (decomposition_table, decompositions_of_inductor)
    defined = [table.get(_OPERATOR) for table in tables]
    original = defined[0]

    def logsumexp(self: torch.Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Any:
        dims = [dim] if isinstance(dim, int) else list(dim)
        if not dims or not self.ndim or self.is_complex() or not _from_data(self.numel()):
            return original(self, dim, keepdim)  # type: ignore[misc]
        terms = self if self.is_floating_point() else self.to(torch.get_default_dtype())
        largest = torch.amax(_with_one_more(terms, dims), dims, keepdim=True)
        largest = torch.masked_fill(largest, largest.abs() == torch.inf, 0)
        total = torch.sum(torch.exp(terms - largest), dims, keepdim=True).log() + largest
        return total if keepdim else torch.squeeze(total, dims)

    if original is not None:
        for table, found in zip(tables, defined, strict=True):
            if found is not None:
                table[_OPERATOR] = logsumexp
    try:
        yield
    finally:
        for table, found in zip(tables, defined, strict=True):
            if found is not None:
                table[_OPERATOR] = found


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
