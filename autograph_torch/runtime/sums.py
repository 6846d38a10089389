"""ag.sum_, the sum of the values that a test lets through, and how Python adds numbers up.

    sum(value for ... if test)

From Python 3.12 on, `sum` keeps what is rounded off where it adds two floats, and adds it at the end (Neumaier's sum;
`builtin_sum_impl` of CPython): `sum([0.1] * 10)` is 1.0.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch

from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.math import is_asked, tensor_of
from autograph_torch.runtime.predicate import truth

KEEPS_ROUNDED_OFF: bool = sys.version_info >= (3, 12)
_NUMBERS = (bool, int, float)  # adding them runs no code of the program
Lost = float | torch.Tensor


def sum_(pairs: Iterable[tuple[Any, ...]], listed: bool = False) -> Any:
    """The sum of `value(*reads)` of each `(test, value)` or `(test, value, reads)` whose test is true.

    listed: it is the sum of a list, `sum([value for ... if test])`, whose values are all there before two are added.
    """
    taken: list[Any] = []  # what is added up together, as the built-in function does: more exactly than one by one
    total: Any = None
    lost: Lost = 0.0
    for test, value, *reads in pairs:
        handed = reads[0] if reads else ()
        flag = truth(test)
        if isinstance(flag, torch.Tensor):
            total, lost = begun(taken) if total is None else (total, lost)
            total, lost = _added(flag, total, lost, value, handed)
        elif flag:
            one = value(*handed)
            if total is None and (listed or type(one) in _NUMBERS):
                taken.append(one)
            else:
                total, lost = more(*((total, lost) if total is not None else begun(taken)), one)
    return sum(taken) if total is None else ended(total, lost)


def _added(
    flag: torch.Tensor, total: Any, lost: Lost, value: Callable[..., Any], handed: tuple[Any, ...]
) -> tuple[Any, Lost]:
    """`total + value(*handed)` if the flag holds, else `total`."""
    if not KEEPS_ROUNDED_OFF or type(total) is not float:
        added: Any = lambda so_far, *read: so_far + value(*read)  # noqa: E731
        return cond(flag, added, lambda so_far, *_: so_far, (total,), (), handed), 0.0
    both = (total, as_tensor(lost))
    add: Any = lambda so_far, lost, *read: more(so_far, lost, value(*read))  # noqa: E731
    return cond(flag, add, lambda so_far, lost, *_: (so_far, lost), both, (), handed)  # type: ignore[no-any-return]


def added_up(values: Iterable[Any], start: Any = 0) -> Any:
    """`sum(values, start)`, where the graph tells numbers."""
    total, lost = begun(values, start)
    return ended(total, lost)


def begun(values: Iterable[Any], start: Any = 0) -> tuple[Any, Lost]:
    """The sum of the values so far, and what has been rounded off; 0 once something is no number."""
    total: Any = start
    lost: Lost = 0.0
    of_numbers = type(start) in (int, float)
    for value in values:
        if of_numbers and not isinstance(value, _NUMBERS):
            total, lost, of_numbers = ended(total, lost), 0.0, False
        total, lost = more(total, lost, value) if of_numbers else (total + value, 0.0)
    return total, lost


def more(total: Any, lost: Lost, one: Any) -> tuple[Any, Lost]:
    """One more value; only between two floats something counts as rounded off."""
    if KEEPS_ROUNDED_OFF and type(total) is float and isinstance(one, float):
        new = total + one
        return new, lost + _rounded_off(total, one, new)
    if isinstance(one, _NUMBERS):
        return total + one, lost
    return ended(total, lost) + one, 0.0


def ended(total: Any, lost: Lost) -> Any:
    """The sum, when there are no more values."""
    if isinstance(lost, torch.Tensor):
        value = tensor_of(total)
        return torch.where((lost != 0) & lost.isfinite(), value + lost, value).item()
    return total + lost if lost != 0 and math.isfinite(lost) else total


def as_tensor(lost: Lost) -> torch.Tensor:
    """What has been rounded off, as a branch or loop on data carries it."""
    return lost if isinstance(lost, torch.Tensor) else tensor_of(lost)


def _rounded_off(one: Any, other: Any, total: Any) -> Lost:
    """`one + other - total`, exactly (Knuth's two-sum), of which the sizes do not matter as they do in Neumaier's.

    In tensors where the graph tells a number: torch may put numbers of its own together otherwise.
    """
    if is_asked(one, other):
        one, other, total = tensor_of(one), tensor_of(other), tensor_of(total)
    part = total - one
    return (one - (total - part)) + (other - part)  # type: ignore[no-any-return]
