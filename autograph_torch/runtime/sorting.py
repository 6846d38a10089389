"""`sorted` and `list.sort` by keys that depend on data, while tracing.

    beams.sort(key=lambda b: -b[1])        the order is that of torch.argsort; each place is given its element by
                                           `element_at` (runtime/positions.py)

Python gives NaN some place that depends on what it is compared with: such a call is left to Python.
"""

from __future__ import annotations

from typing import Any

import torch

from autograph_torch.runtime.positions import element_at
from autograph_torch.runtime.refusal import refuse

_MOST = 8  # elements: the work grows with the square of their number


def in_order(items: list[Any], keys: list[Any], backwards: bool) -> list[Any]:
    """The items in the order of their keys; equal ones stay as they are."""
    if len(items) > _MOST:
        refuse("AG321", f"{len(items)} elements are sorted by data", "sort a tensor: torch.stack(keys).argsort()")
    compared = torch.stack([_as_tensor(key, keys) for key in keys])
    if compared.is_floating_point():
        torch._assert_async(~compared.isnan().any(), "something is sorted by NaN")
    order = compared.argsort(stable=True, descending=backwards).cpu()
    return [element_at(items, order[k]) for k in range(len(items))]


def _as_tensor(key: Any, keys: list[Any]) -> torch.Tensor:
    """A key as a tensor without dimensions, of which all have one dtype."""
    first = keys[0]
    if isinstance(first, torch.Tensor) and isinstance(key, torch.Tensor):
        if key.numel() == 1 and key.dtype == first.dtype and not key.is_complex():
            return key.detach().reshape(())
    for kind, dtype in ((bool, torch.bool), (int, torch.int64), (float, torch.float64)):
        if isinstance(first, kind):
            if not isinstance(key, kind):
                break
            return torch.scalar_tensor(key, dtype=dtype)
    return refuse("AG320", "elements are sorted by keys of several types, or by no numbers", "sort by one number each")
