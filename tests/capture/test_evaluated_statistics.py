"""A BatchNorm that is evaluated and then trained: eager's gradient of the first reads what the second has written."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograph_torch import CaptureError, convert

A, B = torch.tensor([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([[0.0, 1.0], [2.0, 0.0]])


def doubled(y: Tensor) -> Tensor:
    if y.sum() > 100:
        y = y * 2
    return y


def trained_afterwards(norm: nn.BatchNorm1d) -> Tensor:
    norm.eval()
    y = doubled(norm(A))
    norm.train()
    return y.exp().sum() + norm(B).exp().sum()


def as_data_decide(norm: nn.BatchNorm1d) -> Tensor:
    total = torch.zeros(())
    for x in (A, B):
        if x.std(0).min() > 1.2:
            norm.eval()
            y = norm(x)
        else:
            norm.train()
            y = norm(x)
        total = total + y.exp().sum()
    return total


def in_a_loop(norm: nn.BatchNorm1d) -> Tensor:
    x, total = A, torch.zeros(())
    while x.std(0).min() > 0.3:
        if x.sum() < 6:
            y = F.batch_norm(x, norm.running_mean, norm.running_var, norm.weight, norm.bias, True, 0.5)
        else:
            y = F.batch_norm(x, norm.running_mean, norm.running_var, norm.weight, norm.bias, False, 0.5)
        total = total + y.exp().sum()
        x = x / 2
    return total


def trained_before(norm: nn.BatchNorm1d) -> Tensor:
    norm.train()
    y = doubled(norm(B))
    norm.eval()
    return y.exp().sum() + norm(A).exp().sum()


def evaluated_without_gradient(norm: nn.BatchNorm1d) -> Tensor:
    norm.eval()
    with torch.no_grad():
        y = doubled(norm(A))
    norm.train()
    return y.sum() + norm(B).exp().sum()


def gradient(function: Callable[[nn.BatchNorm1d], Tensor]) -> Tensor | None:
    norm = nn.BatchNorm1d(2, momentum=0.5)
    function(norm).backward()
    return norm.weight.grad


def compiled(function: Callable[[nn.BatchNorm1d], Tensor]) -> Callable[[nn.BatchNorm1d], Tensor]:
    return torch.compile(convert(function), backend="aot_eager", fullgraph=True)


@pytest.mark.parametrize("function", [trained_afterwards, in_a_loop])
def test_it_is_refused(function: Callable[[nn.BatchNorm1d], Tensor]) -> None:
    with pytest.raises(CaptureError, match="running statistics"):
        gradient(compiled(function))


def test_it_is_refused_where_data_decide() -> None:
    """By this, and in the form where what follows is part of the branches by torch."""
    with pytest.raises(CaptureError, match="AG320"):
        gradient(compiled(as_data_decide))


def test_eager_reads_what_they_have_become() -> None:
    """Without this the refusal has no reason: y's gradient does not depend on what comes after it."""

    def alone(norm: nn.BatchNorm1d) -> Tensor:
        norm.eval()
        y = doubled(norm(A)).exp().sum()
        norm.train()
        norm(B)
        return y

    def only(norm: nn.BatchNorm1d) -> Tensor:
        norm.eval()
        return doubled(norm(A)).exp().sum()

    assert not torch.equal(gradient(alone), gradient(only))  # type: ignore[arg-type]


@pytest.mark.parametrize("function", [trained_before, evaluated_without_gradient])
def test_other_orders_are_as_in_eager(function: Callable[[nn.BatchNorm1d], Tensor]) -> None:
    torch.testing.assert_close(gradient(compiled(function)), gradient(function))
