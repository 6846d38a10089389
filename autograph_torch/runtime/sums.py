"""ag.sum_: the sum of the values that a test lets through, `sum(value for ... if test)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.predicate import truth

_NUMBERS = (bool, int, float)  # adding them runs no code of the program


def sum_(pairs: Iterable[tuple[Any, ...]], listed: bool = False) -> Any:
    """The sum of `value(*reads)` of each `(test, value)` or `(test, value, reads)` whose test is true.

    listed: it is the sum of a list, `sum([value for ... if test])`, whose values are all there before two are added.
    """
    taken: list[Any] = []  # what is added up together, as the built-in function does: more exactly than one by one
    total: Any = None
    for test, value, *reads in pairs:
        handed = reads[0] if reads else ()
        flag = truth(test)
        if isinstance(flag, torch.Tensor):
            total = _added(flag, sum(taken) if total is None else total, value, handed)
        elif flag:
            one = value(*handed)
            if total is None and (listed or type(one) in _NUMBERS):
                taken.append(one)
            else:
                total = (sum(taken) if total is None else total) + one
    return sum(taken) if total is None else total


def _added(flag: torch.Tensor, total: Any, value: Callable[..., Any], handed: tuple[Any, ...]) -> Any:
    """`total + value(*handed)` if the flag holds, else `total`."""
    return cond(flag, lambda so_far, *read: so_far + value(*read), lambda so_far, *_: so_far, (total,), (), handed)
