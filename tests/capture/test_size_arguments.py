"""Sizes that are tensors, and what the size of a range tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from autograph_torch import convert

Function = Callable[..., Any]


def padded_by_one(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        x = F.pad(x, (0, n))
    return x * 2


def padded_by_two(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        x = F.pad(x, (n, n + 1), "constant", 3.0)
    return x * 2


def padded_at_the_top(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    return F.pad(x, pad=[n, 1])


def maybe_padded(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    pad = (n, 0)
    if pad == (0, 0):
        return x
    return F.pad(x, pad)


def told_wrongly(x: torch.Tensor, pad: tuple[int, int]) -> torch.Tensor:
    if pad != (0, 0):
        x = F.pad(x, pad)
    return x + 1


def called_with_a_wrong_type(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    return told_wrongly(x, (n, 0))


def while_told_wrongly(x: torch.Tensor, n: torch.Tensor) -> tuple[torch.Tensor, Any]:
    def halve(x: torch.Tensor, left: tuple[int, int]) -> torch.Tensor:
        first, count = left
        while (first, 0) != (0, 0):
            x = x / 2
            first = first - 1
        return x

    return halve(x, (n, 0)), n


def viewed(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        x = x.view(1, -1).expand(n + 1, -1)
    else:
        x = x.repeat([n + 1, 1])
    return x + 1


def stacked(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """Tensors and lists that are no sizes stay as they are."""
    both = torch.stack([n, n + 1])
    if x.sum() > 0:
        both = torch.stack((n, n)) + torch.tensor([1, 2])
    return both + torch.tensor([3, n.item()])


def ranged(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    width = int(n)
    if width == 0:
        return x
    steps = torch.arange(width, dtype=x.dtype)
    return torch.where(n > 1, (steps / (n - 1) - 0.5) * 2, steps * 0.0)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(
    "function",
    [
        padded_by_one,
        padded_by_two,
        padded_at_the_top,
        maybe_padded,
        called_with_a_wrong_type,
        while_told_wrongly,
        viewed,
        stacked,
        ranged,
    ],
)
def test_sizes(function: Function, backend: str) -> None:
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for sign in (1.0, -1.0):
        for n in (0, 1, 3):
            x = torch.full((4,), sign)
            expected, found = function(x, torch.tensor(n)), compiled(x, torch.tensor(n))
            torch.testing.assert_close(found, expected, equal_nan=True)


def test_a_negative_size_raises() -> None:
    def steps(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        width = int(n.sum())
        if x.sum() > 0:
            return x.sum() + torch.arange(width).sum()
        return x.sum() + width

    compiled = torch.compile(convert(steps), backend="eager", fullgraph=True)
    for sign, n in ((1.0, 3), (-1.0, 2), (-1.0, -2)):  # on the path without a range, a number may be negative
        x = torch.full((2,), sign)
        torch.testing.assert_close(compiled(x, torch.tensor(n)), steps(x, torch.tensor(n)))
    with pytest.raises(RuntimeError):
        steps(torch.ones(2), torch.tensor(-2))
    with pytest.raises(RuntimeError):
        compiled(torch.ones(2), torch.tensor(-2))
