"""Arithmetic of numbers that depend on data does on every backend what Python does, exceptions included."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import convert

BACKENDS = ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.slow)]
INTEGERS = [(7, 2), (-7, 2), (7, -2), (5, 0)]
FLOATS = [(-1.5, 0.25), (2.5, 0.0), (0.0, -1.0), (math.inf, 2.0), (math.nan, 0.5), (-7.5, 2.0)]


def divided(a: torch.Tensor, b: torch.Tensor) -> Any:
    return a.item() / b.item()


def floored(a: torch.Tensor, b: torch.Tensor) -> Any:
    return a.item() // b.item()


def remainder(a: torch.Tensor, b: torch.Tensor) -> Any:
    return a.item() % b.item()


def square_root(a: torch.Tensor, b: torch.Tensor) -> Any:
    return math.sqrt(a.item()) + b.item()


def inverse(a: torch.Tensor, b: torch.Tensor) -> Any:
    return math.floor(b.item() ** -1.0) + a.item()


def as_integer(a: torch.Tensor, b: torch.Tensor) -> Any:
    return int(a.item()) + math.ceil(b.item())


def extremes(a: torch.Tensor, b: torch.Tensor) -> Any:
    return max(a.item(), b.item()), min(a.item(), b.item()), abs(a.item())


def beside_a_tensor(a: torch.Tensor, b: torch.Tensor) -> Any:
    return torch.ones(2) * (a.item() // b.item())


def in_a_branch(a: torch.Tensor, b: torch.Tensor) -> Any:
    if a.sum() > 0:
        return torch.ones(2) * (a.item() / b.item())
    return torch.ones(2)


def compared(a: torch.Tensor, b: torch.Tensor) -> Any:
    s, r = a.item(), b.item()
    return s != s, s == s, s < r, s > 0, not s >= r


def differences(a: torch.Tensor, b: torch.Tensor) -> Any:
    s, r = a.item(), b.item()
    return s - s, s * 0, (s + r) - r, r - s + s, torch.full((2,), s - s), torch.full((1,), (s + 1e30) - 1e30)


FUNCTIONS = [
    compared,
    differences,
    divided,
    floored,
    remainder,
    square_root,
    as_integer,
    extremes,
    beside_a_tensor,
    in_a_branch,
]


def outcome(function: Callable[..., Any], numbers: tuple[float, float]) -> str:
    """The result with its type, or the exception."""
    try:
        return repr(function(*map(torch.tensor, numbers)))
    except (ArithmeticError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "inputs"),
    [(function, inputs) for function in FUNCTIONS for inputs in (INTEGERS, FLOATS)] + [(inverse, FLOATS)],
)
def test_as_in_python(function: Callable[..., Any], inputs: list[tuple[float, float]], backend: str) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend=backend)
    for numbers in inputs:
        assert outcome(compiled, numbers) == outcome(function, numbers), numbers


@pytest.mark.parametrize("numbers", [(1e30, 1.0), (math.inf, 1.0), (3.0, 1.0)])
def test_what_has_no_64_bits_is_computed_by_python(numbers: tuple[float, float]) -> None:
    compiled = torch.compile(convert(as_integer), fullgraph=True, backend="aot_eager")
    assert outcome(compiled, numbers) == outcome(as_integer, numbers)


def power(a: torch.Tensor, b: torch.Tensor) -> Any:
    return a.item() ** b.item()


def test_a_result_of_another_type_is_computed_by_python() -> None:
    compiled = torch.compile(convert(power), fullgraph=True, backend="aot_eager")
    for numbers in ((-2.0, 0.5), (2.0, 0.5)):
        assert outcome(compiled, numbers) == outcome(power, numbers)


def test_sizes_stay_arithmetic_of_the_graph() -> None:
    """What is known before the graph runs guards it; nothing of it is asked when it runs."""
    targets: list[Any] = []

    def compiler(graph: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        targets.extend(node.target for node in graph.graph.nodes)
        return graph

    def mean(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.sum() / (x.shape[0] // y.shape[0])

    compiled = torch.compile(convert(mean), fullgraph=True, backend=compiler, dynamic=True)
    assert compiled(torch.ones(8), torch.ones(4)) == 4.0
    assert torch.ops.autograph_torch.number not in targets
