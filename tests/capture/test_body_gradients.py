"""The backward pass of a body takes and gives gradients that share no memory, in one layout on both sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import convert
from autograph_torch.capture.body_gradients import gradients_of_their_own
from autograph_torch.capture.merging import cond_module

BACKENDS = ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)]


def parts_of_one_gradient(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        a, b = x.exp(), x @ w
    else:
        a, b = x * 2, x @ w.sin()
    return torch.stack([a, b])


def expanded_on_one_side(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x.sum(0) + w.sum(0)
    return (x * w).sum(0)


def transposed_in_a_loop(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    turned = w.t()
    while x.sum() < 20:
        x = x @ turned + 1
    return x


def twice_as_long_on_one_side(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = x * w
    if x.sum() > 0:
        y = torch.cat([y, x])
    return y.exp()


def rows_on_one_side(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = x * w
    if x.sum() > 0:
        y = y[w.sum(1) > 2] * w[0]
        if w.sum() > 0:
            y = y[:1]
    return y.sin()


def a_size_in_a_branch_inside(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = (x * w)[x > 0]
    if y.numel() == 0:
        return x.sum(0) * w.sum(0)
    if y.sum() > 0:
        y = torch.cat([y, y])
    return y * 2


def written_into_the_second_row(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.zeros(3, 3) + x
    if x.sum() > 0:
        y[1] = w
    return y


def written_into_the_second_row_in_a_loop(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y, n = torch.zeros(3, 3) + x, x.sum()
    while n > 0:
        n = n - 2
        if n < 1:
            y[1] = w
    return y


@pytest.mark.parametrize("backend", ["eager", *BACKENDS])
@pytest.mark.parametrize("function", [written_into_the_second_row, written_into_the_second_row_in_a_loop])
def test_gradients_of_what_is_written_into_a_row(function: Callable[..., Any], backend: str) -> None:
    torch._dynamo.reset()
    fast = torch.compile(convert(function), fullgraph=True, backend=backend)
    for sign in (1.0, -1.0):
        told = []
        for run in (fast, function):
            x, w = torch.full((3, 3), 0.5 * sign, requires_grad=True), torch.full((3,), 2.0, requires_grad=True)
            (run(x, w) ** 2).sum().backward()
            told.append((x.grad.tolist(), None if w.grad is None else w.grad.tolist()))  # type: ignore[union-attr]
        assert told[0] == told[1]


@pytest.mark.parametrize("backend", ["eager", *BACKENDS])
@pytest.mark.parametrize("function", [twice_as_long_on_one_side, rows_on_one_side, a_size_in_a_branch_inside])
def test_gradients_of_results_of_two_sizes(function: Callable[..., Any], backend: str) -> None:
    test_gradients(function, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [parts_of_one_gradient, expanded_on_one_side, transposed_in_a_loop])
def test_gradients(function: Callable[..., Any], backend: str) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend=backend)
    for sign in (1.0, -1.0):
        x = (torch.arange(9.0).reshape(3, 3) * sign / 9).requires_grad_()
        w = (torch.arange(9.0).reshape(3, 3) / 9 + 0.5).requires_grad_()
        weights = torch.arange(1.0, function(x, w).numel() + 1)
        expected = torch.autograd.grad((function(x, w).flatten() * weights).sum(), (x, w))
        actual = torch.autograd.grad((compiled(x, w).flatten() * weights).sum(), (x, w))
        torch.testing.assert_close(actual, expected)


def test_private_names_are_there() -> None:
    """The backward pass of a body is made under the name that is replaced; without that torch refuses these."""
    before = cond_module.create_bw_fn
    with gradients_of_their_own():
        assert cond_module.create_bw_fn is not before
        assert "create_bw_fn" in cond_module.CondAutogradOp.forward.__code__.co_names
    assert cond_module.create_bw_fn is before
