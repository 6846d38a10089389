"""`sorted` and `list.sort` by keys that depend on data, while tracing.

    beams.sort(key=lambda b: -b[1])        the order is that of torch.argsort; each place is given its element by
                                           `element_at` (runtime/positions.py)
    sorted((cost, k) for ...)              by the last of the elements first: the sort is stable

Python gives NaN some place that depends on what it is compared with: such a call is left to Python. Where the graph is
for one path, Python sorts numbers while the graph runs, so that NaN is where eager has it.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    if notes.on_one_path():
        return [items[k] for k in _order_on_one_path(keys, backwards)]
    if len(items) > _MOST:
        refuse("AG321", f"{len(items)} elements are sorted by data", "sort a tensor: torch.stack(keys).argsort()")
    columns = [torch.stack(_as_tensors(column)).cpu() for column in _columns(keys)]
    if any([column.is_floating_point() for column in columns]):
        torch._assert_async(~_have_nan(columns), "something is sorted by NaN")
    order = _order_by(columns, backwards)
    return [element_at(items, order[k]) for k in range(len(items))]


def _order_on_one_path(keys: list[Any], backwards: bool) -> Sequence[int]:
    if not _are_columns(keys):
        return _order_by_asking(keys, backwards)
    columns = _columns(keys)
    tensors = [torch.stack(_as_tensors(column)).cpu() for column in columns]
    if columns == [keys]:
        order = torch.ops.autograph_torch.order_of(tensors[0], backwards)
    elif _have_nan(tensors):
        return _order_by_asking(keys, backwards)
    else:
        order = _order_by(tensors, backwards)
    return [int(order[k].item()) for k in range(len(keys))]


def _order_by(columns: list[torch.Tensor], backwards: bool) -> torch.Tensor:
    order = torch.arange(len(columns[0]))
    for column in reversed(columns):
        order = order[column[order].argsort(stable=True, descending=backwards)]
    return order


def _have_nan(columns: list[torch.Tensor]) -> torch.Tensor:
    return torch.stack([column.isnan().any() for column in columns]).any()


@torch.library.custom_op("autograph_torch::order_of", mutates_args=())
def _order_op(numbers: torch.Tensor, backwards: bool) -> torch.Tensor:
    """The positions of numbers in the order that Python gives them, NaN among them."""
    values = numbers.tolist()
    return torch.tensor(sorted(range(len(values)), key=values.__getitem__, reverse=backwards))


@_order_op.register_fake
def _(numbers: torch.Tensor, backwards: bool) -> torch.Tensor:
    return torch.empty_like(numbers, dtype=torch.int64)


def _are_columns(keys: list[Any]) -> bool:
    """Whether torch compares them: they are of one type each, as far as tuples have elements at a place."""
    if not all([isinstance(key, _COMPARED_BY_TORCH) for key in keys]):
        return False
    if all([isinstance(key, (tuple, list)) for key in keys]):
        lengths = [len(key) for key in keys]
        return min(lengths) != max(lengths) or all([_are_columns([key[k] for key in keys]) for k in range(lengths[0])])
    tensors = [isinstance(key, torch.Tensor) for key in keys]
    return not any(tensors) or (all(tensors) and all([key.dtype == keys[0].dtype for key in keys]))


def _order_by_asking(keys: list[Any], backwards: bool) -> tuple[int, ...]:
    """The places of objects that compare themselves, of tensors among numbers, of NaN in tuples: Python's sort asks."""
    answers: tuple[bool, ...] = ()
    is_done, places = sort_so_far(len(keys), backwards, answers)
    while not is_done:
        answers += (True,) if keys[places[0]] < keys[places[1]] else (False,)
        is_done, places = sort_so_far(len(keys), backwards, answers)
    return places


class _Asked(Exception):
    """Which of two is the smaller one is not known yet."""


@torch.compiler.assume_constant_result
def sort_so_far(size: int, backwards: bool, answers: tuple[bool, ...]) -> tuple[bool, tuple[int, ...]]:
    """Whether so many answers are enough to sort, and the order; else the two places that Python compares next."""
    given = iter(answers)

    class Element:
        def __init__(self, place: int) -> None:
            self.place = place

        def __lt__(self, other: Element) -> bool:
            for answer in given:
                return answer
            raise _Asked(self.place, other.place)

    try:
        return True, tuple([one.place for one in sorted(map(Element, range(size)), reverse=backwards)])
    except _Asked as asked:
        return False, asked.args


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
