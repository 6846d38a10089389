"""Gradients that go a second time through what has kept nothing, and through what has."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import CaptureError
from autograph_torch.capture.kept_nothing import kept_nothing
from tests.harness import check, compiled, leave_out, program, randn, torch_before, vec

OLDER = torch_before("2.12", "it has no gradients in graphs")


@program(inputs=[lambda: (randn(8, 2),), lambda: (randn(8, 2) * 3,), lambda: (-randn(8, 2),)], grad=True)
class Accumulating(nn.Module):
    """The parts of one batch, whose own gradient is recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def forward(self, xs: Tensor) -> Tensor:
        total = torch.zeros(())
        for batch in xs.chunk(4):
            loss = self.layer(batch).pow(2).mean()
            loss.backward()
            total = total + loss.detach()
        return total


@program(inputs=[lambda x=x: (vec(x, 2),) for x in (1, -1, 2)], grad=True)
def twice_through_a_sum(x):
    """Only sums, views and signs lie between: nothing is kept."""
    y = -x.reshape(2, 1).sum()
    (first,) = torch.autograd.grad(y, x)
    if x[0] > 0:
        y = y + 1
    (second,) = torch.autograd.grad(y, x)
    return first + second


@program(inputs=[lambda x=x: (vec(x, 2),) for x in (1, -1, 2)], grad=True)
def given_back_where_nothing_is_kept(x):
    y = x.sum() + 1
    y.backward()
    return y  # who calls it differentiates it again


@OLDER
@pytest.mark.parametrize("tested", [Accumulating, twice_through_a_sum, given_back_where_nothing_is_kept])
@pytest.mark.parametrize("way", ["eager", "aot_eager"])
def test_as_eager(tested: Any, way: Any) -> None:
    verdict = check(tested.__program__, way)
    assert verdict.kind == "equal", verdict.reason


def twice_through_a_square(x: Tensor) -> Tensor:
    y = (x * x).sum()
    return torch.autograd.grad(y, x)[0] + torch.autograd.grad(y, x)[0]


@OLDER
def test_what_has_kept_something_is_refused() -> None:
    with pytest.raises(RuntimeError, match="second time"):
        twice_through_a_square(vec(1, 2).requires_grad_())
    with pytest.raises(CaptureError):
        compiled(twice_through_a_square)(vec(1, 2).requires_grad_())


class Doubled(torch.autograd.Function):
    """It keeps what no name tells."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:  # type: ignore[override]
        (x,) = ctx.saved_tensors
        return gradient * 2 + x * 0


@OLDER
def test_a_function_of_the_program_may_keep_something() -> None:
    def use(x: Tensor) -> Tensor:
        y = Doubled.apply(x).sum()
        return torch.autograd.grad(y, x)[0] + torch.autograd.grad(y, x)[0]

    with pytest.raises(RuntimeError):
        use(vec(1, 2).requires_grad_())
    with pytest.raises((CaptureError, RuntimeError)):
        compiled(use)(vec(1, 2).requires_grad_())


@OLDER
def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, kept_nothing)
    assert check(twice_through_a_sum.__program__, "eager").kind == "refused"
