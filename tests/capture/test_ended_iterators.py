"""An IndexError in an iterator is one; objects that are run over by their indices end by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch.capture.ended_iterators import ended_iterators
from tests.harness import check_any_graph, compiled, leave_out, program, vec

ROWS = [lambda row=row: (vec(*row),) for row in ((0, 2, 3), (1, 1, 3), (-1, -2, -3))]


@program(inputs=ROWS)
def in_a_map(x):
    total = 0
    try:
        for v in map([5, 6].__getitem__, range(3)):
            total += v
            if v > x.sum():
                break
    except IndexError:
        total += 100
    return total


@program(inputs=ROWS)
def in_a_generator(x):
    try:
        return all([1, 2][k] > v for k, v in enumerate(x))
    except IndexError:
        return "over"


@program(inputs=ROWS)
def in_a_function_that_yields(x):
    def picked() -> Iterator[int]:
        yield from ([5, 6][k] for k in range(3))

    total = 0
    try:
        for v in picked():
            total += v if v > x.sum() else 1
    except IndexError:
        total += 100
    return total


class ByIndex:
    def __getitem__(self, k):
        return [5, 6][k]


@program(inputs=ROWS)
def over_an_object_by_index(x):
    total = 0
    for v in ByIndex():
        total += v if v > x.sum() else 1
    first, *rest = ByIndex()
    return total, first, rest, [v * 2 for v in ByIndex()], [*zip(ByIndex(), x.tolist(), strict=False)]


@pytest.mark.parametrize("subject", [in_a_map, in_a_generator, in_a_function_that_yields, over_an_object_by_index])
def test_it_is_raised(subject: Callable[..., Any]) -> None:
    check_any_graph(subject)


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def summed(x: Tensor) -> Tensor:
        total = 0
        try:
            for v in map([5, 6].__getitem__, range(3)):
                total += v
        except IndexError:
            total = -1
        return x + total

    leave_out(monkeypatch, ended_iterators)
    assert summed(torch.zeros(())) == -1
    assert compiled(summed)(torch.zeros(())) == 11, "remove autograph_torch/capture/ended_iterators.py"
