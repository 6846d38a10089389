"""A body that is traced again finds what an earlier trace has told of the bodies inside of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import autograph

VISITS: list[int] = []


@torch.compiler.assume_constant_result
def visit() -> int:
    """Counts the traces of the body that calls it; the runs in eager mode, too."""
    VISITS.append(1)
    return 0


class Meter:
    def __init__(self) -> None:
        self.total = torch.zeros(())
        self.seen: list[Any] = [torch.zeros(()), 0]

    def add(self, x: torch.Tensor) -> None:
        visit()
        self.total = self.total + x.sum()

    def put(self, x: torch.Tensor) -> None:
        visit()
        self.seen[0] = self.seen[0] + x.sum()


def attribute(meter: Meter, x: torch.Tensor) -> torch.Tensor:
    if x[0] > 0:
        if x[1] > 0:
            if x[2] > 0:
                if x[3] > 0:
                    meter.add(x)
    return meter.total + meter.seen[0]


def contents(meter: Meter, x: torch.Tensor) -> torch.Tensor:
    if x[0] > 0:
        if x[1] > 0:
            if x[2] > 0:
                if x[3] > 0:
                    meter.put(x)
    return meter.total + meter.seen[0]


def made_in_a_body(meter: Meter, x: torch.Tensor) -> torch.Tensor:
    if x[0] > 0:
        own = Meter()
        if x[1] > 0:
            meter.total = meter.total + 1
            if x[2] > 0:
                own.add(x)
                own.put(x)
                if x[3] > 0:
                    meter.add(x)
        meter.total = meter.total + own.total * 2 + own.seen[0]
    return meter.total


INPUTS = [torch.tensor(signs) for signs in ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, -4.0], [1.0, 2.0, -3.0, 4.0])] + [
    torch.tensor([1.0, -2.0, 3.0, 4.0]),
    torch.tensor([-1.0, 2.0, 3.0, 4.0]),
]


@pytest.mark.parametrize("program", [attribute, contents, made_in_a_body])
def test_same_as_eager(program: Callable[[Meter, torch.Tensor], torch.Tensor]) -> None:
    compiled = torch.compile(autograph(program), backend="eager", fullgraph=True)
    for x in INPUTS:
        expected, found = Meter(), Meter()
        assert torch.equal(program(expected, x), compiled(found, x))
        assert torch.equal(expected.total, found.total) and torch.equal(expected.seen[0], found.seen[0])


@pytest.mark.parametrize("program", [attribute, contents])
def test_each_level_learns_once(program: Callable[[Meter, torch.Tensor], torch.Tensor]) -> None:
    VISITS.clear()
    torch.compile(autograph(program), backend="eager", fullgraph=True)(Meter(), INPUTS[-1])
    # The innermost of four levels learns, and is traced again; so is, once each, every level around it: 2 + 3, not 2^4.
    assert 1 <= len(VISITS) <= 5
