"""Of numbers that are computed of one another many times, each is looked at once: the compiler ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.fx import Graph

from autograph_torch.capture.computed_of import computed_of
from tests.harness import Program, check, vec

STEPS = 60


def added_to_a_tensor(x: Tensor):
    a, b = x.argmax().item(), 1
    for _ in range(STEPS):
        a, b = b, b - a
    return x + b


def asked_for(x: Tensor):
    a, b = x.argmax().item(), 1
    for _ in range(STEPS):
        a, b = b, a + b
    return x if b > 5 else -x


def handed_to_a_body(x: Tensor):
    a, b = x.argmax().item(), 1
    for _ in range(STEPS):
        a, b = b, b - a
    while x.sum() > 0:
        x = x - (abs(b) + 1)
    return x


@pytest.mark.parametrize("function", [added_to_a_tensor, asked_for, handed_to_a_body])
def test_numbers_of_many_steps(function: Callable[..., object]) -> None:
    inputs = tuple((lambda x=x: (vec(*x),)) for x in ((1, 2), (3, 1)))
    verdict = check(Program(function.__name__, "computed of", lambda: function, inputs), "eager")
    assert verdict.kind == "equal", verdict.reason


def test_each_is_met_once_behind_its_parts() -> None:
    graph = Graph()
    a, b = graph.placeholder("a"), graph.placeholder("b")
    c = graph.call_function(torch.add, (b, a))
    d = graph.call_function(torch.add, (c, c))
    e = graph.call_function(torch.add, (d, a))
    assert list(computed_of(e, lambda node: node.all_input_nodes).items()) == [
        (b, []),
        (a, []),
        (c, [b, a]),
        (d, [c]),
        (e, [d, a]),
    ]
    assert list(computed_of(e, lambda node: [] if node is c else node.all_input_nodes)) == [c, d, a, e]
