"""Sums of numbers that depend on data are right when a guard has settled one of the terms since.

    s = n + m               torch notes that `s` is a sum of different symbols, for which it adds in a shorter way
    counts = {n: 1}         the trace goes on for this `n`, say 0: `s` is `m`, which is no sum
    return s + k            torch adds `k` to the terms of what it still takes for a sum; `m` has none: this gave `k`

Where two such numbers are added it raises "tuple index out of range". (torch 2.13; no version is known to be without.)

Private: torch.fx.experimental.sym_node._optimized_add. tests/capture/test_symbol_sums.py fails without this.
"""

from __future__ import annotations

import functools
from typing import Any

from torch.fx.experimental import sym_node


def repair_sums() -> None:
    """Let torch add in its shorter way only what are sums by now."""
    add: Any = sym_node._optimized_add

    @functools.wraps(add)
    def add_sums(lhs: Any, rhs: Any, lhs_is_sum: bool = False, rhs_is_sum: bool = False) -> Any:
        return add(lhs, rhs, lhs_is_sum and _is_sum(lhs), rhs_is_sum and _is_sum(rhs))

    sym_node._optimized_add = add_sums  # type: ignore[assignment]


def _is_sum(expression: Any) -> bool:
    """Whether it is one of symbols and constants alone."""
    return bool(expression.is_Add) and all(term.is_symbol or term.is_number for term in expression.args)
