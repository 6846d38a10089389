"""Integers made of floats that depend on data, where torch cannot use the expression."""

from __future__ import annotations

import pytest
import torch

from autograph_torch import autograph, convert


def grid(x: torch.Tensor) -> torch.Tensor:
    n, m = int(x[0]), int(x[1].item())
    y = torch.ones(n, m)
    if n > 1:
        y = y * 2
    return torch.where(x.sum() > 1, y / 2, y) + torch.arange(m)


def test_sizes_made_of_floats() -> None:
    compiled = torch.compile(convert(grid), fullgraph=True, backend="eager")
    for x in (torch.tensor([3.7, 2.0]), torch.tensor([1.2, 4.9])):
        torch.testing.assert_close(compiled(x), grid(x))


def test_a_float_without_an_integer() -> None:
    wrong = torch.tensor([float("nan"), 2.0])
    with pytest.raises(RuntimeError, match="no number"):
        autograph(grid, backend="eager", effects="drop")(wrong)
    with pytest.raises(ValueError, match="NaN to integer"):  # the call runs in Python
        autograph(grid, backend="eager")(wrong)
