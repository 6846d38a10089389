"""What is known about sizes in both branches is known about the result."""

from __future__ import annotations

import pytest
import torch

from autograph_torch import autograph

BACKENDS = ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.slow)]


def drop_bad(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Two results of one size: they can be multiplied."""
    bad = x.isnan()
    if bad.any():
        x = x[~bad]
        weight = weight[~bad]
    return (x * weight).sum()


def never_empty(x: torch.Tensor) -> torch.Tensor:
    """Both sides have at least one element: the trapezoidal rule asks."""
    positive = x[x > 0]
    if x.sum() > 0:
        y = torch.cat([torch.zeros(1), positive])
    else:
        y = torch.cat([positive, torch.ones(2)])
    return torch.trapz(y, y)


def two_dimensions(x: torch.Tensor) -> torch.Tensor:
    table = torch.stack([x, x + 1])
    keep = x > 0
    if not keep.all():
        table = table[:, keep]
    return table.sum(1)


VALUES = [torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, -9.0, 4.0]), torch.tensor([float("nan"), 2.0, -1.0])]


@pytest.mark.parametrize("backend", BACKENDS)
def test_equal_sizes(backend: str) -> None:
    compiled = autograph(drop_bad, backend=backend)
    for x in VALUES:
        torch.testing.assert_close(compiled(x, torch.ones(3)), drop_bad(x, torch.ones(3)))


@pytest.mark.parametrize("function", [never_empty, two_dimensions])
@pytest.mark.parametrize("backend", BACKENDS[:2])  # Inductor 2.13 loses track of a size that a branch makes
def test_ranges_and_layouts(function: object, backend: str) -> None:
    compiled = autograph(function, backend=backend)
    for x in VALUES[:2]:
        torch.testing.assert_close(compiled(x), function(x))
