"""Gradients of branches and loops whose operands are written to afterwards."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from autograph_torch import convert
from tests.harness import Program, Way, check, randn, vec

INPUTS = ((lambda: (vec(1, 2, -3), vec(1))), (lambda: (vec(1, 2, -3), vec(-1))))


def in_a_branch(x: torch.Tensor, s: torch.Tensor) -> Any:
    y = x * 1
    t = x.sum()
    if s > 0:
        t = t + y.relu().sum()
    y.add_(1)
    return y, t


def in_a_nested_one(x: torch.Tensor, s: torch.Tensor) -> Any:
    y = x * 1
    t = x.sum()
    if s > -5:
        row = y[1:]
        if s > 0:
            t = t + row.relu().sum()
        y[0] = 7
    return y, t


def in_a_loop(x: torch.Tensor, s: torch.Tensor) -> Any:
    y = x * 1
    t = x.sum()
    while t < 3:
        t = t + y.relu().sum() + s.sum().abs()
    y.mul_(2)
    return y, t


class ABuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x: torch.Tensor, s: torch.Tensor) -> Any:
        y = x + self.seen if s > 0 else x - self.seen
        self.seen.add_(1)
        return y * 2


def read_before_a_write_on_one_path(x: torch.Tensor, s: torch.Tensor) -> Any:
    x = x * 1
    y = x * s
    row = x[1:].abs()
    if s > 5:
        x.add_(1)
    return x, y, row


def given_before_a_write_on_one_path(x: torch.Tensor, s: torch.Tensor) -> Any:
    y = torch.tanh(x)
    z = y * y
    if s > 5:
        y[0] = 0.5
    return y, z


def read_before_writes_of_a_loop(x: torch.Tensor, s: torch.Tensor) -> Any:
    x = x * 1
    y = x * x
    while s > 5:
        x.mul_(2)
        s = s - 1
    return x, y


SUBJECTS = (
    in_a_branch,
    in_a_nested_one,
    in_a_loop,
    ABuffer,
    read_before_a_write_on_one_path,
    given_before_a_write_on_one_path,
    read_before_writes_of_a_loop,
)


@pytest.mark.parametrize("way", ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_an_operand_is_written_to_afterwards(subject: Any, way: Way) -> None:
    made = subject if isinstance(subject, type) else lambda: subject
    verdict = check(Program(subject.__name__, "saved", made, INPUTS, grad=True), way)
    assert verdict.kind == "equal", verdict.reason


def test_without_a_write_nothing_is_copied() -> None:
    graphs: list[torch.fx.GraphModule] = []

    def keep(graph: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph)
        return graph

    def plain(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        return y.relu() if x.sum() > 0 else y

    torch.compile(convert(plain), fullgraph=True, backend=keep)(randn(3).requires_grad_())
    (graph,) = graphs
    assert not [node for node in graph.graph.nodes if node.target == "clone"]
