"""What follows an `if` whose branches differ in type moves into both, when a trace has shown that they do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
import torch

from autograph_torch import CaptureError, autograph, convert

POSITIVE, NEGATIVE = torch.tensor([1.0, 2.0]), torch.tensor([-1.0, -2.0])


@dataclasses.dataclass
class Step:
    value: torch.Tensor
    count: int


def number_or_tensor(x: torch.Tensor) -> Step:
    scale = 0
    if x.sum() > 0:
        scale = x * 2
    return Step(x + scale, 3)


def function_by_data(x: torch.Tensor) -> torch.Tensor:
    activation = torch.relu
    if x.sum() > 0:
        activation = torch.tanh
    return activation(x) + 1


def int_or_float(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        n = 1
    else:
        n = 2.5
    return x * n


def below(x: torch.Tensor) -> torch.Tensor:
    return number_or_tensor(x).value * int_or_float(x)


def objects(x: torch.Tensor) -> Step:
    if x.sum() > 0:
        return Step(x, 1)
    return Step(-x, 2)


@pytest.mark.parametrize("function", [number_or_tensor, function_by_data, int_or_float, below, objects])
def test_split(function: Callable[[torch.Tensor], object]) -> None:
    compiled = autograph(function, backend="eager")
    for x in (POSITIVE, NEGATIVE):
        expected, actual = function(x), compiled(x)
        if isinstance(expected, Step):
            assert isinstance(actual, Step) and type(actual.count) is int and actual.count == expected.count
            expected, actual = expected.value, actual.value
        torch.testing.assert_close(actual, expected, rtol=0, atol=0)


def test_what_a_split_cannot_solve_is_refused() -> None:
    def out_of_a_block(x: torch.Tensor) -> object:
        with torch.no_grad():
            y = x * 2
            with torch.autocast("cpu", enabled=False):
                if x.sum() > 0:
                    return "small"
                return y

    with pytest.raises(CaptureError, match="AG310"):
        autograph(out_of_a_block, backend="eager")(POSITIVE)


def test_a_list_of_the_caller_grows() -> None:
    def log(x: torch.Tensor, seen: list[torch.Tensor]) -> torch.Tensor:
        while x.sum() > 1:
            x = x / 2
            if x[0] > 1:
                seen.append(x)
        return x * 2

    compiled = autograph(log, backend="eager")
    for x in (POSITIVE * 8, NEGATIVE, POSITIVE):
        expected: list[torch.Tensor] = []
        actual: list[torch.Tensor] = []
        torch.testing.assert_close(compiled(x, actual), log(x, expected), rtol=0, atol=0)
        torch.testing.assert_close(actual, expected, rtol=0, atol=0)


def test_guards_look_into_the_frame_that_runs() -> None:
    """The second trace has more local variables than the frame; guards on a closure were read beyond its end."""
    step = torch.ones(2)

    def use(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            n = 1
        else:
            n = 2.5
        return x * n + step

    compiled = torch.compile(convert(use), backend="eager", fullgraph=True)
    for x in (POSITIVE, NEGATIVE, POSITIVE):
        torch.testing.assert_close(compiled(x), use(x), rtol=0, atol=0)
