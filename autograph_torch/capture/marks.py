"""What an exception has ended, told by a mark on it that is found again below what torch wraps around it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def marked(name: str, value: Any) -> Iterator[None]:
    """Around what may fail: the innermost of these blocks leaves its mark."""
    try:
        yield
    except Exception as error:
        if not hasattr(error, name):
            setattr(error, name, value)
        raise


def mark(error: BaseException, name: str) -> Any:
    """The mark of an exception, or of what has led to it; None where there is none."""
    return next((getattr(one, name) for one in leading_to(error) if hasattr(one, name)), None)


def leading_to(error: BaseException) -> Iterator[BaseException]:
    """An exception, and those that it was raised from, or while they were handled."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        yield current
        seen.add(id(current))
        current = current.__cause__ or current.__context__
