"""`max` and `min` of values some of which are tensors, while tracing."""

from __future__ import annotations

from typing import Any

import torch

from autograph_torch.runtime.branch import cond


def extreme(largest: bool, values: tuple[Any, ...]) -> Any:
    """The first of the values that no other one exceeds, or undercuts."""
    found = values[0]
    for value in values[1:]:
        found = _better(value > found if largest else value < found, value, found)
    return found


def _better(is_better: Any, value: Any, found: Any) -> Any:
    if isinstance(value, torch.Tensor) and isinstance(found, torch.Tensor):
        alike = value.dtype == found.dtype and value.device == found.device
        if alike and value.ndim == 0 and found.ndim == 0:
            return torch.where(is_better, value, found)
    return cond(is_better, lambda value, found: value, lambda value, found: found, (value, found))
