"""`bisect`, `heapq` and `count` of lists whose elements data tell the order of, while tracing.

    bisect.bisect(edges, x.item())         the places that a search may come to are numbers of the graph
    heapq.heappush(queue, (cost, node))    the ways through a heap of a known length are branches
    levels.count(low)                      an int, where torch adds up what the comparisons give: tensors

All compare as Python's library does, so that what is no heap, or not sorted, comes out the same. The tracer has the
functions of heaps rewritten, as functions of the user's: their `if` is one on data (capture/sequence_order.py).

Source: https://github.com/python/cpython/blob/3.13/Lib/bisect.py and heapq.py
"""

from __future__ import annotations

from typing import Any

import torch

from autograph_torch.runtime.predicate import truth

_EMPTY = "index out of range"


def count_of(a: tuple[Any, ...], b: Any, same: tuple[bool, ...]) -> int:
    """operator.countOf, which Dynamo has for the method `count`, too; `same`: which elements are `b` itself."""
    return sum([1 if alike else int(truth(element == b)) for element, alike in zip(a, same, strict=True)])


def bisect_right(a: Any, x: Any, lo: int = 0, hi: int | None = None) -> int:
    """bisect.bisect_right, or bisect.bisect."""
    return _searched([truth(x < v) for v in a], lo, hi)


def bisect_left(a: Any, x: Any, lo: int = 0, hi: int | None = None) -> int:
    """bisect.bisect_left."""
    found = [truth(v < x) for v in a]
    return _searched([not flag if isinstance(flag, bool) else ~flag for flag in found], lo, hi)


def insort_right(a: list[Any], x: Any, lo: int = 0, hi: int | None = None) -> None:
    """bisect.insort_right, or bisect.insort."""
    a.insert(bisect_right(a, x, lo, hi), x)


def insort_left(a: list[Any], x: Any, lo: int = 0, hi: int | None = None) -> None:
    """bisect.insort_left."""
    a.insert(bisect_left(a, x, lo, hi), x)


def _searched(is_left: list[bool | torch.Tensor], lo: int, hi: int | None) -> int:
    """Where a search in halves ends; `is_left`: whether it goes on to the left of each element."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    high = len(is_left) if hi is None else hi
    if not any([isinstance(flag, torch.Tensor) for flag in is_left]):
        while lo < high:
            half = (lo + high) // 2
            lo, high = (lo, half) if is_left[half] else (half + 1, high)
        return lo
    flags = torch.stack([torch.as_tensor(flag).cpu() for flag in is_left])
    low, end = torch.tensor(lo), torch.tensor(high)
    for _ in range(high.bit_length()):
        middle = (low + end) // 2
        is_open = low < end
        left = flags[middle.clamp(max=len(is_left) - 1)]
        low, end = torch.where(is_open & ~left, middle + 1, low), torch.where(is_open & left, middle, end)
    return int(low.item())


def heappush(heap: list[Any], item: Any) -> None:
    """heapq.heappush."""
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


def heappop(heap: list[Any]) -> Any:
    """heapq.heappop."""
    if not heap:
        raise IndexError(_EMPTY)
    last = heap.pop()
    return heapreplace(heap, last) if heap else last


def heapreplace(heap: list[Any], item: Any) -> Any:
    """heapq.heapreplace."""
    if not heap:
        raise IndexError(_EMPTY)
    first = heap[0]
    heap[0] = item
    _sink(heap, 0, 0)
    return first


def heappushpop(heap: list[Any], item: Any) -> Any:
    """heapq.heappushpop."""
    if heap and heap[0] < item:
        item = heapreplace(heap, item)
    return item


def heapify(x: list[Any]) -> None:
    """heapq.heapify."""
    for place in reversed(range(len(x) // 2)):
        _sink(x, place, place)


def _rise(heap: list[Any], start: int, place: int) -> None:
    """An element changes places with those above it, as long as it is the smaller one."""
    rises = True
    for lower, upper in _way_up(start, place):
        if rises and heap[lower] < heap[upper]:
            heap[lower], heap[upper] = heap[upper], heap[lower]
        else:
            rises = False


def _way_up(start: int, place: int) -> list[tuple[int, int]]:
    pairs = []
    while place > start:
        above = (place - 1) // 2
        pairs.append((place, above))
        place = above
    return pairs


def _sink(heap: list[Any], start: int, place: int) -> None:
    """An element changes places with the smaller one below it, to the very end, and rises from there."""
    left, right = 2 * place + 1, 2 * place + 2
    if left >= len(heap):
        _rise(heap, start, place)
    elif right < len(heap) and not heap[left] < heap[right]:
        heap[place], heap[right] = heap[right], heap[place]
        _sink(heap, start, right)
    else:
        heap[place], heap[left] = heap[left], heap[place]
        _sink(heap, start, left)
