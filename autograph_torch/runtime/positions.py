"""Elements of lists and tuples, where data tell which.

    steps[i](x)           ag.called_at(steps, i, x)           each of the steps in a branch of its own
    factors[i] * 2        ag.element_at(factors, i) * 2       of tensors or of numbers

A trace has shown where data do (passes/positions.py). Outside of one, and for every other index, it is `items[index]`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail
from autograph_torch.runtime.predicate import is_data_dependent

_LISTS = (list, tuple)


def element_at(items: Any, index: Any) -> Any:
    """`items[index]`."""
    if not _is_told_by_data(items, index) or not all(isinstance(one, (torch.Tensor, int, float)) for one in items):
        return items[index]
    return _picked(items, index, _itself, ())


def called_at(items: Any, index: Any, *args: Any, **kwargs: Any) -> Any:
    """`items[index](*args, **kwargs)`."""
    if not _is_told_by_data(items, index):
        return items[index](*args, **kwargs)
    names = tuple(kwargs)

    def call(item: Any, given: tuple[Any, ...]) -> Any:
        return item(*given[: len(args)], **dict(zip(names, given[len(args) :], strict=True)))

    return _picked(items, index, call, (*args, *kwargs.values()))


def _is_told_by_data(items: Any, index: Any) -> bool:
    if not torch.compiler.is_compiling() or not isinstance(items, _LISTS) or len(items) == 0:
        return False
    if isinstance(index, torch.Tensor):
        return (
            index.ndim == 0 and not index.is_floating_point() and not index.is_complex() and index.dtype != torch.bool
        )
    return isinstance(index, int) and not isinstance(index, bool) and is_data_dependent(index)


def _itself(item: Any, given: tuple[Any, ...]) -> Any:
    return item


def _picked(items: Any, index: Any, use: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """What `use` makes of the element; IndexError when there is none."""
    count = len(items)
    if isinstance(index, torch.Tensor):
        position = index.to(device="cpu", dtype=torch.int64)
    else:
        position = torch.scalar_tensor(index, dtype=torch.int64, device="cpu")
    message = f"{'tuple' if isinstance(items, tuple) else 'list'} index out of range"
    cond((position < -count) | (position >= count), lambda: fail(IndexError, message))
    return _from(0, list(items), torch.where(position < 0, position + count, position), use, given)


def _from(k: int, items: list[Any], position: torch.Tensor, use: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    if k == len(items) - 1:
        return use(items[k], given)
    return cond(
        position == k,
        lambda *given: use(items[k], given),
        lambda *given: _from(k + 1, items, position, use, given),
        reads=given,
    )
