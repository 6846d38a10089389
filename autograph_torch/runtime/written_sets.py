"""What a set of a class of the user's holds behind a graph; called by the code around it (capture/derived_sets.py)."""

from __future__ import annotations

from typing import Any


def write(target: set[Any], members: list[Any], anew: bool) -> None:
    """Let it hold these, by the methods of `set` and not by its own; `anew` where it has lost one."""
    if anew:
        set.clear(target)
    for member in members:
        set.add(target, member)
