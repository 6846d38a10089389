"""`element in values` of a list or tuple whose elements are not all constants; while tracing (capture/membership)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import torch

from autograph_torch.runtime.logic import any_
from autograph_torch.runtime.predicate import truth

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


def place_of(values: Iterable[Any], element: Any, missing: str, start: int = 0, end: int | None = None) -> int:
    """`values.index(element, start, end)` where not all are constants.

    Raises:
        ValueError: `missing`, it is not there.
    """
    for place, value in itertools.islice(enumerate(values), start, end):
        if is_element(value, element) or _are_equal(value, element):
            return place
    raise ValueError(missing)


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
