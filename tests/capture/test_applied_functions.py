"""An autograd.Function whose methods ask data, write to lists and print, where its gradient is computed inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, convert
from tests.harness import difference, torch_before, vec

pytestmark = [
    pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning"),
    torch_before("2.12", "requires_grad_() is not traced"),
]
LOG: list[Any] = []


class Quantized(torch.autograd.Function):
    """`forward` chooses by data what `backward` does, and returns in two places."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, levels: int) -> Tensor:
        peak = x.abs().max()
        ctx.mode = "passed"
        if peak == 0:
            ctx.save_for_backward(torch.ones_like(x))
            return x.clone()
        inside = torch.ones_like(x)
        if peak > 4:
            ctx.mode = "clipped"
            inside = (x.abs() <= 4).to(x.dtype)
            x, peak = x.clamp(-4, 4), peak.clamp(max=4)
        ctx.save_for_backward(inside)
        step = peak / levels
        return torch.round(x / step) * step

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        (inside,) = ctx.saved_tensors
        LOG.append((ctx.mode, ctx.needs_input_grad))
        if gradient.abs().max() > 3:
            LOG.append(("large", gradient.abs().max().item()))
            gradient = gradient / 2
        return gradient * inside if ctx.mode == "clipped" else gradient.clone(), None


def quantized(x: Tensor) -> Any:
    LOG.clear()
    w = x.clone().requires_grad_()
    q = Quantized.apply(w * 1.5, 4)
    error = q - 0.5
    kind = "square"
    loss = (error**2).sum()
    if error.abs().max() > 2:
        kind, loss = "absolute", error.abs().sum() + w.sum()
    loss.backward()
    return kind, q.detach(), w.grad, list(LOG), q.requires_grad


class Split(torch.autograd.Function):
    """Two results, one of which may have no gradient; a context that is set up by itself."""

    @staticmethod
    def forward(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return (x * y, x + y) if x.sum() > 0 else (x - y, x * 2 * y)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.save_for_backward(*inputs)
        ctx.is_product = bool(inputs[0].sum() > 0)

    @staticmethod
    def backward(ctx: Any, first: Tensor, second: Tensor) -> Any:
        x, y = ctx.saved_tensors
        if ctx.is_product:
            return first * y + second, first * x + second
        return first + second * 2 * y, None


def split(x: Tensor) -> Any:
    w, v = x.clone().requires_grad_(), (x + 1).requires_grad_()
    first, second = Split.apply(w, v)
    again, _ = Split.apply(first, w)
    loss = (again * 2).sum() if x[0] > 1 else (first * again + second).sum()
    found = torch.autograd.grad(loss, [w, v], allow_unused=True)
    return loss.detach(), found


def without_a_gradient(x: Tensor) -> Any:
    with torch.no_grad():
        q = Quantized.apply(x * 1.5, 4)
    frozen = Quantized.apply(x, 2)
    return {int(v): k for k, v in enumerate(q)}, frozen, frozen.requires_grad


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("function", [quantized, split, without_a_gradient])
def test_functions(function: Callable[[Tensor], Any], backend: str) -> None:
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for numbers in ((0.3, 1.75, -1.125), (0.0, 0.0, 0.0), (9.0, 3.125, -4.5), (-1.0, 0.5, -2.0)):
        assert not difference(function(vec(*numbers)), compiled(vec(*numbers)), "result")


def test_the_caller_computes_the_gradient() -> None:
    def applied(x: Tensor) -> Any:
        q = Quantized.apply(x * 1.5, 4)
        return q.sum(), {int(v): k for k, v in enumerate(q)}

    with pytest.raises(CaptureError, match="AG32"):
        torch.compile(convert(applied), backend="eager", fullgraph=True)(vec(1, 2).requires_grad_())


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        LOG.append(x.sum().item())
        return x.view(-1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        LOG.append(gradient.sum().item())
        return gradient * 2


def test_results_are_to_be_of_their_own() -> None:
    """In eager a write to such a result is seen in the input."""

    def written(x: Tensor) -> Any:
        w = x.clone().requires_grad_()
        h = w * 1
        y = Same.apply(h)
        y.detach().mul_(2)
        (y * y).sum().backward()
        return w.grad, h.detach()

    with pytest.raises(CaptureError, match="AG320"):
        torch.compile(convert(written), backend="eager", fullgraph=True)(vec(1, 2))
