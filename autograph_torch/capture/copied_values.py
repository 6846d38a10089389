"""Frozen dataclasses and named tuples that an operator hands out: put together again, where eager has the very object.

    old = self.state
    if p: self.state = replace(old, step=old.step + 1)
    if self.state is not old: ...          true in eager where p is; in the graph the two are never one

Nobody who reads them tells a copy, but `is` does: it is refused at the line of the branch or loop between such a copy
and another one of its class.
"""

from __future__ import annotations

from typing import Any

from autograph_torch.runtime import tracing


def note_copied(value: Any) -> None:
    """An operator has put it together again."""
    _copied()[value] = tracing.user_line()[:2]


def line_of_copied(one: Any, other: Any) -> tuple[str, int] | None:
    """Where the branch or loop stands that has made a copy of one of two values, which may be one object in eager."""
    line = _copied().get(one) or _copied().get(other)
    return line if line is not None and one.python_type() is other.python_type() else None


def _copied() -> dict[Any, tuple[str, int]]:
    return tracing.notebook().setdefault("values copied", {})  # type: ignore[no-any-return]
