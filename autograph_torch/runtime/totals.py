"""ag.total: `sum(xs)` of a list that has grown in a loop (runtime/growing.py), in Python's order."""

from __future__ import annotations

import builtins
from typing import Any

from autograph_torch.runtime.growing import Growing, rows_of
from autograph_torch.runtime.loop import for_loop


def total(one: Any) -> Any:
    """`sum(one)`."""
    if not isinstance(one, Growing):
        return builtins.sum(one)
    so_far: Any = builtins.sum(one.begin)
    if one.rows is not None:
        (so_far,) = for_loop(rows_of(one), lambda item, so_far: (so_far + item,), (so_far,))
    return builtins.sum(one.more, so_far)
