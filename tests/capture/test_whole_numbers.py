"""Integers made of floats that depend on data, where torch cannot use the expression."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import autograph, convert
from tests.harness import agreement, program, scalar, vec


def grid(x: torch.Tensor) -> torch.Tensor:
    n, m = int(x[0]), int(x[1].item())
    y = torch.ones(n, m)
    if n > 1:
        y = y * 2
    return torch.where(x.sum() > 1, y / 2, y) + torch.arange(m)


def rounded_grid(x: torch.Tensor) -> torch.Tensor:
    n, m = round(x[0].item()), round(x[1].item())
    return torch.ones(n, m) + torch.arange(m)


@pytest.mark.parametrize("function", [grid, rounded_grid])
def test_sizes_made_of_floats(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend="eager")
    for x in (torch.tensor([3.7, 2.0]), torch.tensor([1.2, 4.9]), torch.tensor([2.5, 3.5])):
        torch.testing.assert_close(compiled(x), function(x))


def test_a_rounded_float_without_an_integer() -> None:
    with pytest.raises(ValueError, match="NaN to integer"):  # the call runs in Python
        autograph(rounded_grid, backend="eager")(torch.tensor([float("nan"), 2.0]))


def test_a_float_without_an_integer() -> None:
    wrong = torch.tensor([float("nan"), 2.0])
    with pytest.raises(RuntimeError, match="no number"):
        autograph(grid, backend="eager", effects="drop")(wrong)
    with pytest.raises(ValueError, match="NaN to integer"):  # the call runs in Python
        autograph(grid, backend="eager")(wrong)


def number_of(t: Tensor) -> Any:
    v = float(t)
    return int(t) if v == int(v) else v


@program(inputs=[lambda v=v: (scalar(v), vec(1, 2, -3)) for v in (1.5, 2.0, math.inf, -math.inf, math.nan, 1e30, -2.0)])
def whole_or_not(t: Tensor, table: Tensor) -> Any:
    try:
        n = number_of(t)
    except OverflowError as error:
        return f"large: {error}", table[0]
    except ValueError as error:
        return table[1], str(error)
    if n > 1e10:
        return n, table
    place = int(n) % len(table)
    while table[place] < 0:
        place -= 1
    return n, table[place] * n, [10, 20, 30][place], table[:place]


@pytest.mark.parametrize("first", range(7))
def test_on_one_path_what_has_no_integer_raises_for_handlers(first: int) -> None:
    every = whole_or_not.__program__  # type: ignore[attr-defined]
    in_turn = every.inputs[first:] + every.inputs[:first]  # the path is that of the first
    verdict = agreement(replace(every, inputs=in_turn), "one path")
    assert verdict.kind == "equal", verdict.reason
