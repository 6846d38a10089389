"""Integers made of floats that depend on data, where torch cannot use the expression."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from autograph_torch import autograph, convert


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
