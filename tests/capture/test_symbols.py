"""Bodies of operators are given what their inputs are computed from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import convert
from autograph_torch.capture.symbols import pass_symbols


def in_a_body(n: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    k = n.item() + 1
    if x.sum() > 0:
        y = x * k
    else:
        y = x - k
    return y


def in_a_body_of_a_body(n: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    k = n.item() * 2 - 1
    for _ in range(n):
        x = x * k if x.sum() < 30 else x - (k + n.item())
    return x


FUNCTIONS = [in_a_body, in_a_body_of_a_body]


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_expressions_of_numbers(function: Callable[..., Any], backend: str) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend=backend)
    for n, x in ((2, 3.0), (3, -1.0), (1, 40.0)):
        given = torch.tensor(n), torch.tensor([x, 1.0])
        torch.testing.assert_close(compiled(*given), function(*given))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_body_knows_its_symbols(function: Callable[..., Any]) -> None:
    """The symbols of a body's inputs are inputs themselves, or read in it."""
    graphs: list[torch.fx.GraphModule] = []

    def keep(graph: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        graphs.append(graph)
        return graph

    torch.compile(convert(function), fullgraph=True, backend=keep)(torch.tensor(2), torch.tensor([3.0, 1.0]))
    for body in graphs[0].modules():
        if isinstance(body, torch.fx.GraphModule) and body is not graphs[0]:
            values = [node.meta.get("example_value") for node in body.graph.nodes if node.op == "placeholder"]
            numbers = [value.node.expr for value in values if isinstance(value, torch.SymInt)]
            assert {symbol for number in numbers for symbol in number.free_symbols} <= set(numbers)


def test_a_graph_without_operators_stays() -> None:
    graph = torch.fx.symbolic_trace(lambda x: x + 1)
    before = graph.code
    pass_symbols(graph)
    assert graph.code == before
