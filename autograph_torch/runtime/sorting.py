"""`sorted` and `list.sort` by keys that depend on data, while tracing.

    beams.sort(key=lambda b: -b[1])        the order is that of torch.argsort; each place is given its element by
                                           `element_at` (runtime/positions.py)
    sorted((cost, k) for ...)              by the last of the elements first: the sort is stable

Python gives NaN some place that depends on what it is compared with: such a call is left to Python.
"""

from __future__ import annotations

from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.positions import element_at
from autograph_torch.runtime.predicate import is_data_dependent
from autograph_torch.runtime.refusal import refuse

_COMPARED_BY_TORCH = (bool, int, float, str, tuple, list, torch.Tensor)
_MOST = 8  # elements: the work grows with the square of their number


def in_order(items: list[Any], keys: list[Any], backwards: bool) -> list[Any]:
    """The items in the order of their keys; equal ones stay as they are."""
    if notes.on_one_path() and not _are_columns(keys):
        return _by_their_own_order(items, keys, backwards)
    if len(items) > _MOST and not notes.on_one_path():
        refuse("AG321", f"{len(items)} elements are sorted by data", "sort a tensor: torch.stack(keys).argsort()")
    order = torch.arange(len(keys))
    for column in reversed(_columns(keys)):
        compared = torch.stack(_as_tensors(column)).cpu()
        if compared.is_floating_point():
            _refuse_nan(compared)
        order = order[compared[order].argsort(stable=True, descending=backwards)]
    if notes.on_one_path():
        return [items[int(order[k].item())] for k in range(len(items))]
    return [element_at(items, order[k]) for k in range(len(items))]


def _are_columns(keys: list[Any]) -> bool:
    """Whether torch compares them: they are of one type each, as far as tuples have elements at a place."""
    if not all([isinstance(key, _COMPARED_BY_TORCH) for key in keys]):
        return False
    if all([isinstance(key, (tuple, list)) for key in keys]):
        lengths = [len(key) for key in keys]
        return min(lengths) != max(lengths) or all([_are_columns([key[k] for key in keys]) for k in range(lengths[0])])
    tensors = [isinstance(key, torch.Tensor) for key in keys]
    return not any(tensors) or (all(tensors) and all([key.dtype == keys[0].dtype for key in keys]))


def _by_their_own_order(items: list[Any], keys: list[Any], backwards: bool) -> list[Any]:
    """As `in_order`, of objects that compare themselves, and of tensors among numbers: each is put in its place by
    halves, as Python does.
    """
    for key in keys:
        if isinstance(key, (float, torch.Tensor)):
            _refuse_nan(key if isinstance(key, torch.Tensor) else torch.scalar_tensor(key, dtype=torch.float64))
    order: list[int] = []
    for k in reversed(range(len(keys))) if backwards else range(len(keys)):
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            if keys[k] < keys[order[middle]]:
                high = middle
            else:
                low = middle + 1
        order.insert(low, k)
    return [items[k] for k in (reversed(order) if backwards else order)]


def _refuse_nan(numbers: torch.Tensor) -> None:
    torch._assert_async(~numbers.isnan().any(), "something is sorted by NaN")


def _columns(keys: list[Any]) -> list[list[Any]]:
    """What the keys are compared by, the first first: tuples by their elements, as far as two may be alike."""
    if not all([isinstance(key, (tuple, list)) for key in keys]):
        return [keys]
    if not all([len(key) == len(keys[0]) for key in keys]):
        refuse("AG320", "elements are sorted by tuples of several lengths", "give them one length")
    columns: list[list[Any]] = []
    for k in range(len(keys[0])):
        column = [key[k] for key in keys]
        if all([_is_constant(value) for value in column]):
            columns.append([sum([other < value for other in column]) for value in column])
            if all([column[j] != column[k] for k in range(len(column)) for j in range(k)]):
                return columns
        else:
            columns += _columns(column)
    return columns


def _is_constant(value: Any) -> bool:
    """Whether it is a string or number that the trace knows, and no NaN."""
    if isinstance(value, (bool, int, float)):
        return not is_data_dependent(value) and value == value
    return isinstance(value, str)


def _as_tensors(column: list[Any]) -> list[torch.Tensor]:
    """Values as tensors without dimensions and of one dtype."""
    if all([isinstance(value, torch.Tensor) for value in column]):
        if all([v.numel() == 1 and v.dtype == column[0].dtype and not v.is_complex() for v in column]):
            return [value.detach().reshape(()) for value in column]
    elif all([isinstance(value, (bool, int)) for value in column]):
        return [torch.scalar_tensor(value, dtype=torch.int64) for value in column]
    elif all([isinstance(value, float) or _is_exact(value) for value in column]):
        return [torch.scalar_tensor(value, dtype=torch.float64) for value in column]
    return refuse("AG320", "elements are sorted by keys of several types, or by no numbers", "sort by numbers")


def _is_exact(value: Any) -> bool:
    """Whether a float can be it."""
    return isinstance(value, (bool, int)) and _is_constant(value) and abs(value) <= 2**53
