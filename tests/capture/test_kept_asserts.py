"""What torch takes for granted of sizes is checked when the graph runs: a call that differs runs in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import autograph, convert

DATA = [torch.tensor(x) for x in ([1.0, 1, 2, -2], [1.0, 2, -1, -2], [1.0, -1, -1, -1], [-1.0] * 4, [1.0] * 4)]


def broadcast(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    rows = x[x > 0]
    return rows + torch.tensor([1.0, 2.0, 3.0]), rows.shape[0]


def in_a_branch(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > -9:
        rows = x[x > 0]
        found = (rows + torch.tensor([1.0, 2.0, 3.0])).sum()
    else:
        found = x.sum()
    return found


def listed(x: torch.Tensor) -> tuple[int, int]:
    numbers = x[x > 0].long().tolist()
    return sum(numbers), len(numbers)


def divided(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    count = int(x.sum())
    return x.view(2, 2) + torch.zeros(max(count, 0)), count


def check(function: Callable[..., Any], compiled: Callable[..., Any], data: list[torch.Tensor]) -> None:
    for x in data:
        try:
            expected = function(x.clone())
        except RuntimeError:
            with pytest.raises(RuntimeError):
                compiled(x.clone())
        else:
            torch.testing.assert_close(compiled(x.clone()), expected)


def is_taken(function: Callable[..., Any], x: torch.Tensor) -> bool:
    try:
        function(x.clone())
    except RuntimeError:
        return False
    return True


@pytest.mark.filterwarnings("ignore:the graph of", "ignore:.*the graph is for data")
@pytest.mark.parametrize("function", [broadcast, in_a_branch, listed, divided], ids=lambda function: function.__name__)
@pytest.mark.parametrize("first", [0, -1])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_numbers_are_those_of_eager(function: Callable[..., Any], first: int, backend: str) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend=backend)
    made_for = [x for x in DATA if is_taken(function, x)][first]
    check(function, compiled, [made_for, *DATA])


@pytest.mark.filterwarnings("ignore:the graph of")
def test_with_inductor() -> None:
    check(broadcast, autograph(broadcast, backend="inductor"), DATA)
