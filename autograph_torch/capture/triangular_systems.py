"""`torch.linalg.solve_triangular` for a number of matrices that depends on data.

    models = minimal[finite]                           finite: which samples are good
    x = torch.linalg.solve_triangular(upper, models, upper=True)

To tell the layout of the result torch asks whether the matrices are contiguous, and so whether there are any. But the
answer counts for conjugate matrices alone: for others the result is laid out by columns, as it is here.

Private: op_implementations_dict, with which torch tells the sizes of results.
tests/capture/test_triangular_systems.py fails clearly when torch changes it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_impls import op_implementations_dict
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

_SOLVE = torch.ops.aten.linalg_solve_triangular.default


def know_sizes_of_solutions() -> None:
    """From now on: the bodies of operators are traced again when the graph runs."""
    op_implementations_dict.setdefault(_SOLVE, _solution)


def _solution(mode: Any, function: Any, a: torch.Tensor, b: torch.Tensor, **options: Any) -> torch.Tensor:
    """Of the solution; the other ways to call it, and what is wrong with the sizes, are torch's."""
    if not (has_free_unbacked_symbols(a.shape) or has_free_unbacked_symbols(b.shape)) or a.is_conj():
        return NotImplemented
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return b.new_empty((*batch, b.shape[-1], b.shape[-2])).mT
