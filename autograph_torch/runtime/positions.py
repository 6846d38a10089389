"""Elements of lists, tuples, dicts and strings, where data tell which.

    steps[i](x)           ag.called_at(steps, i, x)           each of the steps in a branch of its own
    factors[i] * 2        ag.element_at(factors, i) * 2       of one type
    "ACGT"[i]             ag.element_at("ACGT", i)            picked from these constants (runtime/picked.py)
    names[i]              `position_in`, `is_position`, ...   of several, or strings: each on a path of its own

A trace has shown where data do (passes/positions.py). Outside of one, and for every other index, it is `items[index]`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail, text
from autograph_torch.runtime.picked import constants_of, picked, place_of
from autograph_torch.runtime.predicate import is_data_dependent
from autograph_torch.runtime.refusal import refuse

_LISTS = (list, tuple, str, torch.nn.ModuleList)
_CASES = 8  # elements that are worth a path each, which they may need (passes/positions.py)


def element_at(items: Any, index: Any) -> Any:
    """`items[index]`."""
    if not _is_told_by_data(items, index):
        return items[index]
    if isinstance(items, str):
        return picked(_position(items, index), tuple(items))
    if not all(isinstance(one, (torch.Tensor, int, float)) for one in _elements(items)):
        _refuse_more(items, _CASES)
    return _picked(items, index, _itself, ())


def position_in(items: Any, index: Any) -> torch.Tensor | None:
    """Which of the elements of `items` it is that `items[index]` gives; None where it takes no data to tell."""
    return _position(items, index) if _is_told_by_data(items, index) else None


def is_position(position: torch.Tensor | None, items: Any, k: int) -> Any:
    """Whether data tell that it is the element with this number. The last one is left when it is no other."""
    return position is not None and k < len(items) - 1 and position == k


def element_there(items: Any, k: int) -> Any:
    """The element with a number."""
    return _elements(items)[k]


def last_element(items: Any, index: Any, position: torch.Tensor | None, most: int) -> Any:
    """`items[index]`, the last element where data tell which it is."""
    if position is None:
        return items[index]
    _refuse_more(items, most)
    return _elements(items)[-1]


def key_there(items: Any, k: int) -> Any:
    """The index, or the key, of the element with a number."""
    return list(items)[k] if isinstance(items, dict) else k


def last_key(items: Any, index: Any, position: torch.Tensor | None, most: int) -> Any:
    """`index`, that of the last element where data tell which it is."""
    if position is None:
        return index
    _refuse_more(items, most)
    return key_there(items, len(items) - 1)


def _refuse_more(items: Any, most: int) -> None:
    """Stop where there are more elements than paths."""
    if len(items) > most:
        refuse("AG321", f"data tell which of {len(items)} elements it is", "keep tensors or numbers in it, or fewer")


def called_at(items: Any, index: Any, *args: Any, **kwargs: Any) -> Any:
    """`items[index](*args, **kwargs)`."""
    if not _is_told_by_data(items, index):
        return items[index](*args, **kwargs)
    names = tuple(kwargs)

    def call(item: Any, given: tuple[Any, ...]) -> Any:
        return item(*given[: len(args)], **dict(zip(names, given[len(args) :], strict=True)))

    return _picked(items, index, call, (*args, *kwargs.values()))


def _is_told_by_data(items: Any, index: Any) -> bool:
    if not torch.compiler.is_compiling() or not isinstance(items, (*_LISTS, dict)) or len(items) == 0:
        return False
    if isinstance(items, dict) and place_of(index) is not None:
        return type(items) is dict
    if isinstance(items, dict):
        known = type(items) is dict and all(isinstance(key, (int, float)) for key in items)
        return known and isinstance(index, (int, float)) and is_data_dependent(index)
    if isinstance(index, torch.Tensor):
        return (
            index.ndim == 0 and not index.is_floating_point() and not index.is_complex() and index.dtype != torch.bool
        )
    return isinstance(index, int) and not isinstance(index, bool) and is_data_dependent(index)


def _elements(items: Any) -> list[Any]:
    return list(items.values()) if isinstance(items, dict) else list(items)


def _itself(item: Any, given: tuple[Any, ...]) -> Any:
    return item


def _picked(items: Any, index: Any, use: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """What `use` makes of the element."""
    return _from(0, _elements(items), _position(items, index), use, given)


def _position(items: Any, index: Any) -> torch.Tensor:
    """The number of the element (0-d, on the CPU); IndexError or KeyError when there is none."""
    count = len(items)
    if isinstance(items, dict):
        place = torch.full((), count, dtype=torch.int64, device="cpu")
        for k, key in enumerate(items):
            place = torch.where(torch.scalar_tensor(index == key, dtype=torch.bool, device="cpu"), k, place)
        if place_of(index) is None or not all(key in items for key in constants_of(index)):
            cond(place == count, lambda index: fail(KeyError, index), reads=(index,))
        return place
    if isinstance(index, torch.Tensor):
        position = index.to(device="cpu", dtype=torch.int64)
    else:
        position = torch.scalar_tensor(index, dtype=torch.int64, device="cpu")
    outside = (position < -count) | (position >= count)
    if isinstance(items, torch.nn.ModuleList):
        cond(outside, lambda: fail(IndexError, text("index {} is out of range", index)))
    else:
        kind = "string" if isinstance(items, str) else "tuple" if isinstance(items, tuple) else "list"
        message = f"{kind} index out of range"
        cond(outside, lambda: fail(IndexError, message))
    return torch.where(position < 0, position + count, position)


def _from(k: int, items: list[Any], position: torch.Tensor, use: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    if k == len(items) - 1:
        return use(items[k], given)
    return cond(
        position == k,
        lambda *given: use(items[k], given),
        lambda *given: _from(k + 1, items, position, use, given),
        reads=given,
    )
