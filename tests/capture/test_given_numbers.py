"""Numbers that a call gives in tensors without dimensions are data: one graph reads them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.fx import GraphModule

from autograph_torch import convert
from autograph_torch.capture import given_numbers
from tests.harness import leave_out


def shown(n: Tensor, x: Tensor) -> Any:
    return f"{n.item()} {-n.item() * 0}", x


def counted(n: Tensor, x: Tensor) -> Any:
    k = 0
    while k < n.item():
        k += 1
    return k, x * n.item()


def decided(n: Tensor, x: Tensor) -> Any:
    if n.item() % 2 == 0:
        return x + 1, n.item() * 2
    return x - 1, 0


def rounded(n: Tensor, x: Tensor) -> Any:
    number = int(n.item() * 25)
    return round(number, -2), round(number, -1), round(number, 3), round(number > 60, -1), round(n.item(), ndigits=0)


def graphs(function: Callable[..., Any], dtype: torch.dtype) -> int:
    """How many graphs twelve calls need, each as eager."""
    made: list[GraphModule] = []

    def backend(module: GraphModule, inputs: list[Tensor]) -> Any:
        made.append(module)
        return module

    torch._dynamo.reset()
    fast = torch.compile(convert(function), backend=backend, fullgraph=True)
    for k in range(-6, 7):
        n, x = torch.tensor(k).to(dtype), torch.ones(2)
        assert repr(fast(n, x)) == repr(function(n, x))
    return len(made)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64, torch.float32, torch.int32])
@pytest.mark.parametrize("function", [shown, counted, decided, rounded])
def test_one_graph_for_all(function: Callable[..., Any], dtype: torch.dtype) -> None:
    assert graphs(function, dtype) == 1


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, given_numbers.given_numbers)
    assert graphs(decided, torch.int64) == 2


def test_a_number_that_is_an_argument_stays_one() -> None:
    def scaled(x: Tensor, factor: float) -> Tensor:
        return x * factor if x.sum() > factor else x + math.floor(factor)

    fast = torch.compile(convert(scaled), backend="eager", fullgraph=True)
    for factor in (0.5, 1.5, 2.5, -3.25):
        torch.testing.assert_close(fast(torch.ones(2), factor), scaled(torch.ones(2), factor))
