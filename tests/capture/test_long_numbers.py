"""Floats that many steps have computed: bit for bit those of eager, and no long expressions."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from autograph_torch import convert
from autograph_torch.capture import long_numbers

CALLS = (9.0, 1.0, 0.3, float("inf"), float("nan"))


def root(goal: torch.Tensor) -> tuple[float, torch.Tensor]:
    wanted = goal.item()
    x = wanted
    for _ in range(6):
        x = x - (x * x - wanted) / (2 * x) * 0.9
    return x, goal + x


def lengths(graph: torch.fx.GraphModule) -> list[int]:
    values = [node.meta.get("example_value") for node in graph.graph.nodes]
    return [value.node.expr.count_ops() for value in values if isinstance(value, torch.SymFloat)]


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_the_numbers_are_those_of_eager(backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(root), backend=backend, fullgraph=True)
    for value in CALLS:
        found, expected = compiled(torch.tensor(value)), root(torch.tensor(value))
        assert repr(found) == repr(expected)


def test_no_expression_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs: list[Any] = []

    def keep(graph: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    for most in (long_numbers._MOST, 10_000):
        torch._dynamo.reset()
        monkeypatch.setattr(long_numbers, "_MOST", most)
        torch.compile(convert(root), backend=keep, fullgraph=True)(torch.tensor(9.0))
    short, long = graphs
    assert max(lengths(short)) <= 3 * 50 < max(lengths(long))
