"""Gradients of leaves that the function is not given."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError
from autograph_torch.capture.leaves_outside import leaves_outside
from tests.harness import compiled, leave_out, vec


def of_no_leaf(x: Tensor, w: Tensor) -> Tensor:
    loss = (w * x).sum()
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.detach()


def behind_a_branch(x: Tensor, w: Tensor) -> Tensor:
    loss = (w * x).sum()
    if loss > 0:
        loss = loss * 2
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.detach()


@pytest.mark.parametrize("function", [of_no_leaf, behind_a_branch])
def test_it_is_refused(function: Callable[[Tensor, Tensor], Tensor]) -> None:
    leaf = vec(1, 2).requires_grad_()
    with pytest.raises(CaptureError, match="AG320 `backward` leads to leaves that the compiled function is not given"):
        compiled(function)(vec(3, 4), leaf * 2)


@pytest.mark.parametrize("function", [of_no_leaf, behind_a_branch])
def test_leaves_that_are_given(function: Callable[[Tensor, Tensor], Tensor]) -> None:
    mine, others = (vec(1, 2).requires_grad_() for _ in range(2))
    assert torch.equal(compiled(function)(vec(3, 4), mine), function(vec(3, 4), others))
    assert mine.grad is not None and others.grad is not None and torch.equal(mine.grad, others.grad)


def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, leaves_outside)
    leaf = vec(1, 2).requires_grad_()
    compiled(of_no_leaf)(vec(3, 4), leaf * 2)
    assert leaf.grad is None
