"""A function that gives values of different types on two paths: what follows its call is made for each of them.

    mask = inverted(mask)                  def rest(found):
    y = attend(x, mask)                        mask = found
    return y + x                               y = attend(x, mask)
                                               return y + x

                                           return ag.followed(ag.opened(inverted(mask)), rest)

Inside of a loop an `if` tells the two apart: `ag.is_first(found)`, with `ag.first(found)` and `ag.others(found)`.

`inverted` ends in `return ag.cond(p, ...)`. While tracing, a cond whose value goes straight into `ag.opened` is not
made there: it hands out its predicate and its branches, and `ag.followed` (runtime/following.py) makes one of them and
the rest. (The text is that of passes/open_calls.py, where a trace has failed without; capture/callers.py follows the
value.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class Opened:
    """What an `ag.cond` that has not been made consists of."""

    def __init__(
        self,
        flag: torch.Tensor,
        true_fn: Callable[..., Any],
        false_fn: Callable[..., Any],
        arguments: tuple[Any, ...],
    ) -> None:
        self.flag, self.true_fn, self.false_fn, self.arguments = flag, true_fn, false_fn, arguments


def opened(value: Any) -> Any:
    """The value of a call, which may be an Opened."""
    return value


def is_first(found: Any) -> Any:
    """Whether a call gives the first of its values: a tensor, or True where it has one alone."""
    return found.flag if isinstance(found, Opened) else True


def first(found: Any) -> Any:
    """The first value of a call."""
    return found.true_fn(*found.arguments) if isinstance(found, Opened) else found


def others(found: Any) -> Any:
    """What else a call may give, which may be an Opened again."""
    return opened(found.false_fn(*found.arguments)) if isinstance(found, Opened) else found


def last(found: Any) -> Any:
    """What else a call may give, as one value."""
    return found.false_fn(*found.arguments) if isinstance(found, Opened) else found


def goes_into_opened(known: bool = False) -> bool:
    """Whether the value of the runtime function that asks goes straight into `opened`. (Filled in by the tracer.)"""
    return known
