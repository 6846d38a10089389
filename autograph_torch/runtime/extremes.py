"""`max` and `min` of values some of which are tensors, or whose keys are, while tracing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.either import number_flag
from autograph_torch.runtime.positions import element_at
from autograph_torch.runtime.predicate import truth


def extreme(largest: bool, values: tuple[Any, ...]) -> Any:
    """The first of the values that no other one exceeds, or undercuts."""
    found = values[0]
    for value in values[1:]:
        found = _better(value > found if largest else value < found, value, found)
    return found


def extreme_by(largest: bool, items: Iterable[Any], key: Callable[[Any], Any]) -> Any:
    """`max(items, key=key)`, or `min`."""
    found = [*items]
    return element_at(found, place_of_extreme(largest, found, key))


def place_of_extreme(largest: bool, items: list[Any], key: Callable[[Any], Any]) -> Any:
    """The position of the first item whose key no other one exceeds, or undercuts: a tensor where data tell."""
    if not items:
        raise ValueError(_OF_NOTHING[largest])
    place: Any = 0
    best = key(items[0])
    for k in range(1, len(items)):
        value = key(items[k])
        is_better = truth(value > best if largest else value < best)
        if isinstance(is_better, torch.Tensor):
            place = torch.where(is_better.reshape(()).cpu(), k, place)
            best = _better(is_better, value, best)
        elif is_better:
            place, best = k, value
    return place


def _text_of_nothing(function: Callable[[list[Any]], Any]) -> str:
    try:
        function([])
    except ValueError as error:
        return str(error)
    return ""


_OF_NOTHING = {True: _text_of_nothing(max), False: _text_of_nothing(min)}  # other versions of Python, other texts


def _better(is_better: Any, value: Any, found: Any) -> Any:
    if isinstance(value, torch.Tensor) and isinstance(found, torch.Tensor):
        alike = value.dtype == found.dtype and value.device == found.device
        numbers = number_flag(value) is not None or number_flag(found) is not None  # on some paths: cond keeps this
        if alike and value.ndim == 0 and found.ndim == 0 and not numbers:
            return torch.where(is_better, value, found)
    return cond(is_better, lambda value, found: value, lambda value, found: found, (value, found))
