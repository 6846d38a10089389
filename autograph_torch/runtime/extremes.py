"""`max` and `min` of values some of which are tensors, or whose keys are, while tracing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import has_static_value

from autograph_torch.runtime import notes
from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail
from autograph_torch.runtime.either import number_flag
from autograph_torch.runtime.messages import message_of
from autograph_torch.runtime.positions import element_at
from autograph_torch.runtime.predicate import truth

OF_NOTHING = {True: message_of(max, []), False: message_of(min, [])}


def extreme(largest: bool, values: tuple[Any, ...]) -> Any:
    """The first of the values that no other one exceeds, or undercuts."""
    found = values[0]
    for value in values[1:]:
        found = _better(value > found if largest else value < found, value, found)
    return found


def extreme_of_rows(largest: bool, rows: torch.Tensor) -> Any:
    """`max(rows)`, or `min`: a view of one of the elements."""
    if rows.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    if rows.ndim > 1 or rows.is_complex():
        return extreme(largest, tuple([rows[k] for k in range(len(rows))]))
    size = rows.shape[0]
    if has_static_value(size) and size == 0:
        raise ValueError(OF_NOTHING[largest])
    if not has_static_value(size):
        cond(truth(size == 0), lambda: fail(ValueError, OF_NOTHING[largest]))
    return rows.select(0, _first_extreme(largest, rows.detach()))


def _first_extreme(largest: bool, rows: torch.Tensor) -> Any:
    """The place of the first element that no other exceeds. NaN exceeds nothing, and nothing exceeds one in front."""
    compared = rows.to(torch.int64) if rows.dtype == torch.bool else rows
    if rows.is_floating_point():
        compared = torch.where(rows.isnan(), float("-inf") if largest else float("inf"), rows)
    best = compared.amax() if largest else compared.amin()
    places = torch.arange(rows.shape[0], device=rows.device)
    place = torch.where(compared == best, places, rows.shape[0] - 1).amin()
    if rows.is_floating_point():
        place = torch.where(rows.select(0, 0).isnan(), 0, place)
    number = place.item()
    torch._check(number >= 0)
    torch._check(number < rows.shape[0])
    return number


def note_either(chosen: torch.Tensor, one: torch.Tensor, other: torch.Tensor) -> None:
    """In eager the chosen one is one of the two. (Noted by the tracer, capture/extremes.py.)"""


def extreme_or(largest: bool, items: Iterable[Any], default: Any, key: Callable[[Any], Any] | None = None) -> Any:
    """`max(items, key=key, default=default)`."""
    found = list(items)
    if not found:
        return default
    choose = max if largest else min
    return choose(found) if key is None else choose(found, key=key)


def extreme_by(largest: bool, items: Iterable[Any], key: Callable[[Any], Any]) -> Any:
    """`max(items, key=key)`, or `min`."""
    found = [*items]
    place = place_of_extreme(largest, found, key)
    if notes.on_one_path() and not all([isinstance(item, torch.Tensor) for item in found]):
        return found[int(place)]
    return element_at(found, place)


def place_of_extreme(largest: bool, items: list[Any], key: Callable[[Any], Any]) -> Any:
    """The position of the first item whose key no other one exceeds, or undercuts: a tensor where data tell."""
    if not items:
        raise ValueError(OF_NOTHING[largest])
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


def _better(is_better: Any, value: Any, found: Any) -> Any:
    if notes.on_one_path():
        return value if truth(is_better) else found
    if isinstance(value, torch.Tensor) and isinstance(found, torch.Tensor):
        alike = value.dtype == found.dtype and value.device == found.device
        numbers = number_flag(value) is not None or number_flag(found) is not None  # on some paths: cond keeps this
        if alike and value.ndim == 0 and found.ndim == 0 and not numbers:
            chosen = torch.where(is_better, value, found)
            note_either(chosen, value, found)
            return chosen
    return cond(is_better, lambda value, found: value, lambda value, found: found, (value, found))
