"""Tensors that are made with `requires_grad=True`: gradients that are computed inside are eager's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, convert
from autograph_torch.capture import compiling
from autograph_torch.capture.leaves_made import leaves_made
from tests.harness import vec


def clipped(x: Tensor) -> tuple[Tensor, bool, bool]:
    w = torch.zeros(3, requires_grad=True)
    (g,) = torch.autograd.grad(((w - x) ** 2).sum(), w)
    if g.norm() > 3:
        g = g / g.norm()
    return g, w.requires_grad, w.is_leaf


def of_numbers(x: Tensor) -> Tensor:
    w = torch.tensor([0.5, 2.0, 1.0], requires_grad=True)
    loss = (w * w * x).sum()
    if loss > 3:
        loss = loss / 2
    (g,) = torch.autograd.grad(loss, w)
    return g


def not_wanted(x: Tensor) -> Tensor:
    w = torch.ones_like(x, requires_grad=False)
    return w * x if x.sum() > 0 else w


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [clipped, of_numbers, not_wanted])
def test_gradients_inside(function: Callable[..., object], backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for x in (vec(1, 2, 3), vec(-1, 0.5, 0), vec(9, 9, 9)):
        torch.testing.assert_close(compiled(x), function(x), rtol=0, atol=0)


def returned(x: Tensor) -> Tensor:
    w = torch.zeros(3, requires_grad=True)
    return w * x if x.sum() > 0 else x


def returned_by_a_branch(x: Tensor) -> Tensor:
    if x.sum() > 0:
        w = x.detach().clone().requires_grad_()
    else:
        w = x * 2
    return w


def returned_by_a_loop(x: Tensor) -> Tensor:
    y = x * 2
    while y.sum() < 10:
        w = y.detach().requires_grad_()
        y = w * 2
    return y


def told_in_a_branch(x: Tensor) -> Tensor:
    w = x.detach()
    if x.sum() > 0:
        w.requires_grad_()
    return w * 2


@pytest.mark.parametrize("function", [returned, returned_by_a_branch, returned_by_a_loop, told_in_a_branch])
def test_a_result_that_depends_on_one_is_refused_at_its_line(function: Callable[..., object]) -> None:
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match=r"test_leaves_made\.py:\d+.*requires_grad_\(\)"):
        torch.compile(convert(function), backend="eager", fullgraph=True)(vec(1, 2, 3).requires_grad_())


def values_alone(x: Tensor) -> Tensor:
    w = x.detach().clone()
    w.requires_grad_()
    with torch.no_grad():
        if w.norm() > 2:
            w /= w.norm()
    return w.detach() * x


def beside_one(x: Tensor) -> tuple[Tensor, Tensor]:
    if x.sum() > 0:
        w = x.detach().clone().requires_grad_()
        y, n = x * 3, (w * 2).detach()
    else:
        y, n = x * 2, x.detach() * 1
    return y, n


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [values_alone, beside_one])
def test_a_result_with_nothing_but_its_values(function: Callable[..., object], backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for x in (vec(1, 2, 3), vec(-1, 0.5, 0)):
        given = [x.clone().requires_grad_() for _ in range(2)]
        outcomes = [made(one) for made, one in zip((function, compiled), given, strict=True)]
        torch.testing.assert_close(*outcomes, rtol=0, atol=0)
        for outcome in outcomes:
            (outcome[0] if isinstance(outcome, tuple) else outcome).sum().backward()
        torch.testing.assert_close(given[0].grad, given[1].grad, rtol=0, atol=0)


def test_torch_alone_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_REPAIRS", tuple(one for one in compiling._REPAIRS if one is not leaves_made))
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match="tensor creation function"):
        torch.compile(convert(clipped), backend="eager", fullgraph=True)(vec(1, 2, 3))
