"""Python's random numbers are drawn when the graph runs: those of eager, in eager's order, and as many."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, autograph, convert

_RNG = random.Random(0)
_TARGET = torch.arange(8.0).reshape(4, 2)


def teacher_forcing(x: torch.Tensor) -> torch.Tensor:
    steps = []
    for target in _TARGET:
        x = torch.tanh(x)
        steps.append(x)
        x = target if random.random() < 0.5 else x * 2
    return torch.stack(steps)


def numbers(x: torch.Tensor) -> tuple[Any, ...]:
    scale, shift = random.uniform(1, 2), random.gauss(0, 1)
    x = x * scale + shift
    return x, scale, shift, random.randint(0, 5), random.randrange(7)


def of_an_object(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    n = _RNG.randint(1, 3)
    for _ in range(n):
        x = x * 2
    return x + _RNG.random(), n


def seeded(x: torch.Tensor) -> torch.Tensor:
    _RNG.seed(5)
    own = random.Random(3)
    return x + _RNG.random() + own.random()


def raising(x: torch.Tensor) -> torch.Tensor:
    x = x * random.random()
    if x.sum() < 0:
        raise ValueError("negative")
    return x * random.random() * _RNG.random()


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return torch.compile(convert(function), fullgraph=True, backend="eager")


def aot(function: Callable[..., Any]) -> Callable[..., Any]:
    return torch.compile(convert(function), fullgraph=True, backend="aot_eager")


def _calls(function: Callable[..., Any], x: torch.Tensor) -> str:
    _RNG.seed(3)
    random.seed(4)
    seen: list[Any] = []
    for _ in range(4):
        try:
            seen.append(function(x))
        except ValueError as error:
            seen.append(error)
    return str((seen, _RNG.random(), random.random()))


@pytest.mark.parametrize("program", [teacher_forcing, numbers, of_an_object, seeded, raising])
@pytest.mark.parametrize("how", [plain, aot, autograph])
@pytest.mark.parametrize("sign", [1, -1])
def test_as_eager(program: Any, how: Any, sign: int) -> None:
    x = torch.ones(2) * sign
    assert _calls(how(program), x) == _calls(program, x)


def in_a_branch(x: torch.Tensor) -> torch.Tensor:
    return x * random.random() if x.sum() > 0 else x


def in_a_loop(x: torch.Tensor) -> torch.Tensor:
    while x.sum() < 5:
        x = x + _RNG.random()
    return x


@pytest.mark.parametrize("program", [in_a_branch, in_a_loop])
def test_refused_in_bodies(program: Any) -> None:
    with pytest.raises(CaptureError, match="whichever path"):
        plain(program)(torch.ones(2))


def test_refused_as_state() -> None:
    def saved(x: torch.Tensor) -> torch.Tensor:
        return x + _RNG.getstate()[1][0]

    with pytest.raises(CaptureError, match="`getstate`"):
        plain(saved)(torch.ones(2))


def test_torch_needs_this() -> None:
    """Without it the functions of the module are refused, and an object's numbers are the same in every call."""
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(lambda x: x * random.random(), fullgraph=True, backend="eager")(torch.ones(2))
    drawing = torch.compile(lambda x: x + _RNG.randint(0, 10**6), fullgraph=True, backend="eager")
    assert torch.equal(drawing(torch.zeros(1)), drawing(torch.zeros(1)))
