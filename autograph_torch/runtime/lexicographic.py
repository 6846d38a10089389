"""The order of lists and tuples whose elements depend on data: that of the first pair that differs.

    (loss, step) < best                    if loss != best[0]: loss < best[0], else step < best[1]

The tracer has `compared` rewritten, as a function of the user's: its `if` is one on data (capture/sequence_order.py).
Tensors of several elements behind a number that decides (`heappush(beams, (score, count, x))`) are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from autograph_torch.runtime.two_nan import refuse_two_nan


def compared(
    comparison: Callable[[Any, Any], Any],
    left: Sequence[Any],
    right: Sequence[Any],
    of_unequal: bool | None,
    may_be_one: Sequence[bool],
) -> Any:
    """`comparison(left, right)`, of `operator`'s comparisons.

    Args:
        comparison: such a function.
        left, right: what is compared, without pairs that are one object.
        of_unequal: what `==` and `!=` give for unequal ones.
        may_be_one: of each pair, whether it may be one float, which nobody knows.

    Source: https://docs.python.org/3/reference/expressions.html#value-comparisons

    Raises:
        RuntimeError: the pairs in front are equal, and these are tensors that have no order.
    """
    for a, b, doubtful in zip(left, right, may_be_one, strict=False):
        if _are_without_order(a, b):
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        if a != b:
            if doubtful:
                refuse_two_nan(a, b)
            return comparison(a, b) if of_unequal is None else of_unequal
    return comparison(len(left), len(right))


def _are_without_order(one: Any, other: Any) -> bool:
    """Whether their comparison gives a tensor of several elements, which is neither true nor false."""
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    return one.shape == other.shape and one.numel() > 1
