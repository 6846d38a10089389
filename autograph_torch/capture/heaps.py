"""The largest and smallest of a heap, which Dynamo cannot follow, by the sort that Python says they amount to.

    heapq.nlargest(2, xs, key)              sorted(xs, key=key, reverse=True)[:2]
    counts.most_common(2)                   which calls the former

tests/capture/test_heaps.py shows that torch needs it.
"""

from __future__ import annotations

import heapq
import types
from collections.abc import Callable, Iterable
from typing import Any


def _largest(n: int, iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> list[Any]:
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]  # type: ignore[arg-type]


def _smallest(n: int, iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> list[Any]:
    return sorted(iterable, key=key)[: max(n, 0)]  # type: ignore[arg-type]


# What the tracer runs in the place of these functions; with their globals, of which it needs none.
SORTS: dict[types.CodeType, types.CodeType] = {
    heapq.nlargest.__code__: _largest.__code__,
    heapq.nsmallest.__code__: _smallest.__code__,
}
