"""`element in values` of a list or tuple whose elements are not all constants; while tracing (capture/membership)."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import torch

from autograph_torch.runtime.logic import any_
from autograph_torch.runtime.predicate import truth

ENDS_EARLY: bool = sys.version_info >= (3, 11)  # an intersection that has all members
_UNLIKE_TENSORS = (str, bytes, list, tuple, dict, set, frozenset, type(None))  # which torch compares with no tensor


def is_among(element: Any, values: tuple[Any, ...], same: tuple[bool, ...]) -> bool:
    """`element in values`, where not all are constants; `same`: which of them are the element."""
    found = any_(alike or _are_equal(value, element) for value, alike in zip(values, same, strict=True))
    return found.item() if isinstance(found, torch.Tensor) else found  # type: ignore[return-value]


def _are_equal(one: Any, other: Any) -> Any:
    for tensor, value in ((one, other), (other, one)):
        if isinstance(tensor, torch.Tensor) and isinstance(value, _UNLIKE_TENSORS):
            return False
    return one == other


def is_found_in(element: Any, values: Iterable[Any]) -> bool:
    """`element in values` of an iterator, or the values of a dict, which goes no further than to the first one."""
    for value in values:  # noqa: SIM110 (a jump, which data may decide)
        if is_element(value, element) or _are_equal(value, element):
            return True
    return False


def index_of(values: Any, element: Any, start: int = 0, end: int | None = None, missing: str | None = None) -> int:
    """`values.index(element, start, end)` where not all are constants; the bounds may count from behind, as in slices.

    Raises:
        ValueError: it is not there. `missing`: the text, other than that of `index`.
    """
    if start < 0:
        start = max(start + len(values), 0)
    if end is not None and end < 0:
        end = end + len(values)
    for place, value in enumerate(values):
        if end is not None and place >= end:
            break
        if place >= start and (is_element(value, element) or _are_equal(value, element)):
            return place
    if missing is None and isinstance(values, tuple):
        missing = "tuple.index(x): x not in tuple"
    raise ValueError(f"{element!r} is not in {type(values).__name__}" if missing is None else missing)


def intersection(members: Any, *others: Any, cls: Any = set) -> Any:
    """`members.intersection(*others)`: of two that are equal, the one that is gone through stays."""
    if not others:
        return members.copy()
    for other in others:
        larger, smaller = _larger_first(members, other)
        members = set()
        for value in smaller:
            if value in larger:
                members.add(value)
                if ENDS_EARLY and len(members) >= len(larger):  # an iterator is asked no further
                    break
    return cls(members)


def _larger_first(members: Any, other: Any) -> tuple[Any, Any]:
    """Of two sets Python goes through the smaller one, which comes second; anything else it goes through itself."""
    is_larger = isinstance(other, (set, frozenset)) and len(other) > len(members)
    return (other, members) if is_larger else (members, other)


def is_within(members: Any, values: Any) -> bool:
    """`members.issubset(values)` from Python 3.12 on, for a set and an iterator."""
    return len(intersection(members, values)) == len(members)


def has_none(members: Any, values: Any) -> bool:
    """`members.isdisjoint(values)`, for a set."""
    members, values = _larger_first(members, values)
    for value in values:  # noqa: SIM110 (a jump, which data may decide)
        if value in members:
            return False
    return True


def has_all(members: Any, values: Iterable[Any]) -> bool:
    """`members.issuperset(values)`, for a set."""
    for value in values:  # noqa: SIM110 (a jump, which data may decide)
        if value not in members:
            return False
    return True


def next_before(rows: Any) -> Any:
    """`next(iter(function, sentinel))` of Dynamo's stand-in for such an iterator."""
    if rows.exhausted:
        raise StopIteration
    found = rows.fn()
    if is_element(rows.sentinel, found) or _are_equal(rows.sentinel, found):
        rows.exhausted = True
        raise StopIteration
    return found


def is_element(value: Any, element: Any) -> bool:
    """Whether they are one object; capture/membership answers it."""
    return value is element


def truth_of(found: Any) -> bool:
    """The truth of what `__contains__` has given."""
    flag = truth(found)
    return flag.item() if isinstance(flag, torch.Tensor) else flag  # type: ignore[return-value]


def negated(flag: bool) -> bool:
    """`not flag`, where data tell it."""
    return torch.scalar_tensor(flag, dtype=torch.bool).logical_not().item()  # type: ignore[return-value]
