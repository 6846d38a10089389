"""What the results of branches and loops may be, as the finished graph tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from autograph_torch import convert
from autograph_torch.capture.graph_writes import arguments_of
from autograph_torch.capture.origins import Finder, Origin


def graph_of(function: Callable[..., Any], *args: Any) -> GraphModule:
    """The graph as a backend is given it."""
    graphs = []

    def backend(graph: GraphModule, _: Any) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    torch.compile(convert(function), backend=backend, fullgraph=True)(*args)
    return graphs[0]


def origins(function: Callable[..., Any], *args: Any) -> tuple[Finder, Node, list[tuple[str, int]]]:
    graph = graph_of(function, *args)
    finder, result = Finder(graph), arguments_of(graph.graph.find_nodes(op="output")[0])[0][0]
    names = [(one.root.name, len(one.views)) for one in finder.outermost.origins(result) if one.root is not result]
    return finder, result, names


def test_of_branches_in_branches_and_of_views() -> None:
    def use(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = x * 2
        if x.sum() > 0:
            z = y[:2] if y.sum() > 0 else x
        return z

    finder, result, names = origins(use, torch.ones(2), torch.ones(3))
    assert sorted(names) == [("l_x_", 0), ("l_y_", 1), ("z", 0)]
    flags = [finder.outermost.holds(result, one) for one in finder.outermost.origins(result)]
    assert flags[0] is True and all(isinstance(flag, Node) for flag in flags[1:])


def test_of_trips_that_change_places() -> None:
    def use(x: torch.Tensor, y: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        while n > 0:
            x, y = y, x
            n = n - 1
        return x

    _, _, names = origins(use, torch.ones(2), torch.zeros(2), torch.tensor(1))
    assert sorted(names) == [("l_x_", 0), ("l_y_", 0)]


def test_a_tensor_of_its_own() -> None:
    finder, result, names = origins(lambda x: x + 1 if x.sum() > 0 else x.clone(), torch.ones(2))
    assert not names and finder.outermost.origins(result) == (Origin(result),)


def test_of_a_branch_whose_inputs_are_results_of_others() -> None:
    """torch gives the inputs of a branch the notes of what they stand for; they are no results themselves."""

    def use(x: torch.Tensor) -> torch.Tensor:
        total = x * 0
        for k in range(3):
            if x.sum() > k:
                offset = x.mean() + k
                total = total + (lambda v, offset=offset: v - offset)(x)
            x = x + 1
        return total

    _, _, names = origins(use, torch.ones(2))
    assert len(names) == 3  # `x * 0`, and what two branches have given before
