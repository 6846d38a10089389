"""Frozen dataclasses and named tuples that an operator hands out: put together again, where eager has the very object.

    old = self.state
    if p: self.state = replace(old, step=old.step + 1)
    if self.state is not old: ...          true in eager where p is; in the graph the two are never one

Nobody who reads them tells a copy, but `is` does: it is refused at the line of the branch or loop between such a copy
and another one of its class. So is what writes to them all the same: a cached property, or `object.__setattr__`.
"""

from __future__ import annotations

from typing import Any

from torch._guards import TracingContext

from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import refusal_at


def note_copied(value: Any) -> None:
    """An operator has put it together again."""
    _copied()[value] = tracing.user_line()[:2]


def line_of_copied(one: Any, other: Any) -> tuple[str, int] | None:
    """Where the branch or loop stands that has made a copy of one of two values, which may be one object in eager."""
    line = _copied().get(one) or _copied().get(other)
    return line if line is not None and one.python_type() is other.python_type() else None


def note_originals(item: Any, found: list[Any]) -> None:
    """What was there before an operator, and what the operator gives that may be a copy of it."""
    lines = [_copied()[one] for one in found if one in _copied()]
    if lines:
        _originals()[item] = lines[0]


def check_written(item: Any) -> None:
    """Stop at a write to a copy, or to what there is a copy of."""
    line = _copied().get(item) or _originals().get(item)
    if line is not None:
        message = "what this gives may be an object from before, and one of the two is written to afterwards"
        raise refusal_at(*line, "AG314", message, "copy it before")


def _originals() -> dict[Any, tuple[str, int]]:
    return _of_the_trace("values with copies")


def _copied() -> dict[Any, tuple[str, int]]:
    return _of_the_trace("values copied")


def _of_the_trace(key: str) -> dict[Any, tuple[str, int]]:
    return tracing.notebook().setdefault(key, {}) if TracingContext.try_get() is not None else {}
