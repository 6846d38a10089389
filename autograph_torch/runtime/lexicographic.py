"""The order of lists and tuples whose elements depend on data: that of the first pair that differs.

    (loss, step) < best                    if loss != best[0]: loss < best[0], else step < best[1]

The tracer has `compared` rewritten, as a function of the user's: its `if` is one on data (capture/sequence_order.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def compared(
    comparison: Callable[[Any, Any], Any], left: Sequence[Any], right: Sequence[Any], of_unequal: bool | None
) -> Any:
    """`comparison(left, right)`, of `operator`'s comparisons; `of_unequal`: what `==` and `!=` give for unequal ones.

    Source: https://docs.python.org/3/reference/expressions.html#value-comparisons
    """
    for a, b in zip(left, right, strict=False):
        if a != b:
            return comparison(a, b) if of_unequal is None else of_unequal
    return comparison(len(left), len(right))
