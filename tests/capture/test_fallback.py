"""`fallback="graph_break"`: one graph where possible, else several, with one warning."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, autograph


class Counting:
    """A backend that counts graphs, and the branches in them."""

    def __init__(self) -> None:
        self.graphs = self.conditions = 0

    def __call__(self, graph: torch.fx.GraphModule, _: list[torch.Tensor]) -> Callable[..., Any]:
        self.graphs += 1
        self.conditions += sum(node.target is torch.ops.higher_order.cond for node in graph.graph.nodes)
        return graph


def fine(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x * 2
    return x - 1


def lengthened(x: torch.Tensor) -> torch.Tensor:
    x = fine(x)
    while x.sum() < 12:
        x = torch.cat([x, x.abs()])
    return fine(x * 2)


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return lengthened(x) + 1


INPUTS = (torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), torch.tensor([-1.0, -2.0]))


@pytest.mark.parametrize("target", [lengthened, Model()])
def test_breaks_where_it_must(target: Any) -> None:
    backend = Counting()
    compiled = autograph(target, backend=backend, fallback="graph_break")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x in INPUTS:
            torch.testing.assert_close(compiled(x), target(x))
    ours = [str(one.message) for one in caught if "graph breaks" in str(one.message)]
    assert len(ours) == 1 and "test_fallback.py:" in ours[0] and "while x.sum() < 12" in ours[0]
    assert backend.graphs >= 2 and backend.conditions >= 2  # before and behind the break, branches are captured


def test_default_raises() -> None:
    with pytest.raises(CaptureError, match="AG311"):
        autograph(lengthened, backend="eager")(INPUTS[0])


def test_one_graph_where_possible() -> None:
    backend = Counting()
    compiled = autograph(fine, backend=backend, fallback="graph_break")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in INPUTS:
            torch.testing.assert_close(compiled(x), fine(x))
    assert backend.graphs == 1


def test_a_program_s_own_errors_pass() -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 5:
            raise ValueError("large")
        return x

    compiled = autograph(run, backend="eager", fallback="graph_break")
    with pytest.raises(ValueError, match="large"):
        compiled(INPUTS[1])


def test_wrong_value() -> None:
    with pytest.raises(ValueError, match="graph_break"):
        autograph(fine, fallback="eager")


def told(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        print("positive")
    print(os.getcwd()[:1])  # a built-in function that no graph can call
    if x.sum() > 1:
        print("large")
    return x


def test_effects_of_parts_are_in_the_order_of_the_program() -> None:
    compiled = autograph(told, backend="eager", fallback="graph_break")
    for _ in range(2):
        with contextlib.redirect_stdout(io.StringIO()) as text, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled(torch.ones(3))
        assert text.getvalue() == f"positive\n{os.getcwd()[:1]}\nlarge\n"
