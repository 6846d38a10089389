"""Generators that nobody goes on with: what their blocks do in the end is not forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError
from tests.harness import compiled, vec


class Rows:
    def __init__(self) -> None:
        self.closed = 0

    def one_by_one(self, x: Tensor) -> Iterator[Tensor]:
        try:
            for k in range(len(x)):
                yield x[k]
        finally:
            self.closed += 1

    def delegated(self, x: Tensor) -> Iterator[Tensor]:
        try:
            yield from x
        finally:
            self.closed += 1

    def seen_to(self, x: Tensor) -> Iterator[Tensor]:
        try:
            yield x[0]
            yield x[1]
        except GeneratorExit:
            self.closed += 1
            raise

    def in_a_context(self, x: Tensor) -> Iterator[Tensor]:
        with torch.no_grad():
            yield x[0]
            yield x[1]

    def handled(self, x: Tensor) -> Iterator[Tensor]:
        try:
            yield x[0]
        except ValueError:
            self.closed += 1
        yield x[1]

    def twice(self, x: Tensor) -> Iterator[Tensor]:
        for row in self.one_by_one(x):
            yield row * 2


def first_of(made: Iterator[Tensor], x: Tensor) -> Tensor:
    for row in made:
        x = x + row
        break
    if x.sum() > 3:
        x = x * 2
    return x


@pytest.mark.parametrize("name", ["one_by_one", "delegated", "seen_to", "in_a_context", "twice"])
def test_one_that_is_left_is_refused(name: str) -> None:
    def run(x: Tensor, rows: Rows) -> Tensor:
        return first_of(getattr(rows, name)(x), x)

    with pytest.raises(CaptureError, match="AG320 a generator is left"):
        compiled(run)(vec(1, 2), Rows())


def closed(x: Tensor, rows: Rows) -> Tensor:
    made = rows.one_by_one(x)
    x = x + next(made)
    made.close()  # type: ignore[attr-defined]
    return x * 2 if x.sum() > 3 else x


def to_the_end(x: Tensor, rows: Rows) -> Tensor:
    for row in rows.twice(x):
        x = x + row
    return x * 2 if x.sum() > 3 else x


def with_nothing_to_do(x: Tensor, rows: Rows) -> Tensor:
    return first_of(rows.handled(x), x)


def not_begun(x: Tensor, rows: Rows) -> Tensor:
    rows.one_by_one(x)
    return x * 2 if x.sum() > 3 else x


@pytest.mark.parametrize("function", [closed, to_the_end, with_nothing_to_do, not_begun])
def test_others_are_as_in_eager(function: Callable[[Tensor, Rows], Tensor]) -> None:
    expected, actual, fast = Rows(), Rows(), compiled(function)
    for x in (vec(1, 2), vec(-1, 0)):
        assert torch.equal(fast(x, actual), function(x, expected))
        assert actual.closed == expected.closed


def test_torch_needs_it() -> None:
    def run(x: Tensor, rows: Rows) -> Any:
        return x + next(rows.one_by_one(x))

    expected, actual = Rows(), Rows()
    run(vec(1, 2), expected)
    torch.compile(run, backend="eager", fullgraph=True)(vec(1, 2), actual)
    assert actual.closed != expected.closed, "remove autograph_torch/capture/left_generators.py"
