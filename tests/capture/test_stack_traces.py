"""The nodes of a graph know the user's lines, and none of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograph_torch import convert


def halved(x: Tensor) -> Tensor:
    return x / 2


def decided(x: Tensor) -> Tensor:
    if x.sum() > 0:
        x = halved(x) + 1
    return x * 3


def traces_of(function: Callable[..., Any]) -> dict[Any, str]:
    """The lines of each call of the graph and the bodies in it, by what is called."""
    graphs: list[torch.fx.GraphModule] = []

    def keep(graph: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    torch.compile(function, fullgraph=True, backend=keep)(torch.ones(3))
    bodies = [one for one in graphs[0].modules() if isinstance(one, torch.fx.GraphModule)]
    nodes = [node for body in bodies for node in body.graph.nodes if node.op.startswith("call_")]
    return {node.target: node.meta["stack_trace"] for node in nodes}


def test_the_lines_of_the_user_and_no_others() -> None:
    found = traces_of(convert(decided))
    assert found and not any("autograph_torch/runtime" in trace for trace in found.values())
    inner = next(trace for target, trace in found.items() if getattr(target, "__name__", "") == "truediv")
    lines = [line.strip() for line in inner.splitlines()]
    assert [line for line in lines if line.startswith("File") and "test_stack_traces" in line] == [
        line for line in lines if line.startswith("File")
    ]
    assert lines.index("x = halved(x) + 1") < lines.index("return x / 2")


def test_functions_that_are_not_converted_have_the_lines_of_torch() -> None:
    def plain(x: Tensor) -> Tensor:
        return halved(x) + 1

    assert all("test_stack_traces" in trace for trace in traces_of(plain).values())
