"""Integers that change from call to call, wherever they lie: one graph for all their values from the second on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.testing import CompileCounter

from autograph_torch import autograph
from tests.harness import vec

X = vec(1.0, 2.0)
CALLS = 12
STEPS = 0
COUNTS = {"steps": 0}


class Totals:
    steps = 0


def of_a_global(x: torch.Tensor) -> torch.Tensor:
    global STEPS
    STEPS += 1
    return x * STEPS if x.sum() > 0 else x - STEPS


def of_a_dict(x: torch.Tensor) -> torch.Tensor:
    COUNTS["steps"] += 1
    return x * COUNTS["steps"] if x.sum() > 0 else x - COUNTS["steps"]


def of_a_class(x: torch.Tensor) -> torch.Tensor:
    Totals.steps += 1
    return x * Totals.steps if x.sum() > 0 else x - Totals.steps


class Counting(nn.Module):
    def __init__(self, start: int) -> None:
        super().__init__()
        self.steps = start
        self.width = 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        x = x.view(self.width)
        return x * self.steps if x.sum() > 0 else x - self.steps


def _settle() -> None:
    global STEPS
    STEPS = COUNTS["steps"] = Totals.steps = 0


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("function", [of_a_global, of_a_dict, of_a_class, Counting(0)])
def test_a_count_is_no_constant(function: Callable[..., Any], dynamic: bool | None) -> None:
    torch._dynamo.reset()
    _settle()
    if isinstance(function, Counting):
        function.steps = 0
    graphs = CompileCounter()
    step = autograph(function, backend=graphs, dynamic=dynamic)
    for number in range(1, CALLS):
        assert torch.equal(step(X), X * number)
    assert torch.equal(step(-X), -X - CALLS)
    assert graphs.frame_count == 2


def test_what_does_not_change_is_a_constant() -> None:
    torch._dynamo.reset()
    seen: list[Any] = []

    def backend(graph: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        seen.append([one for one in inputs if not isinstance(one, torch.Tensor)])
        return graph

    model = Counting(0)
    step = autograph(model, backend=backend)
    for _ in range(3):
        step(X)
    assert [len(symbols) for symbols in seen] == [0, 1]  # the second graph has `steps`, neither has `width`
