"""What a set or deque of a class of the user's holds behind a graph; called by the code around it.

By the methods of Python's own class, and not by those of the user's. (capture/derived_sets.py, derived_deques.py)
"""

from __future__ import annotations

from collections import deque
from typing import Any


def write_set(target: set[Any], members: list[Any], anew: bool) -> None:
    """Let it hold these; `anew` where it has lost one."""
    if anew:
        set.clear(target)
    for member in members:
        set.add(target, member)


def write_deque(target: deque[Any], items: list[Any], maxlen: int | None) -> None:
    """Let it hold these, and no more than so many."""
    deque.__init__(target, items, maxlen)
