"""torch.logsumexp and losses of classes where only data tell whether there is any element."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from autograph_torch import autograph

BACKENDS = ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.slow)]
VALUES = [[1.0, 2.0, -1.0], [-1.0], [3.0, float("inf")], [-2.0, float("nan"), 0.5]]


def of_any_size(x: torch.Tensor) -> list[torch.Tensor]:
    y = x[x > 0]
    z = torch.stack([y, 2 * y], 1)
    table = y[:, None] * y
    return [y.logsumexp(0), z.logsumexp(0), z.logsumexp((0, 1)), z.logsumexp(-1, keepdim=True), table.logsumexp((0, 1))]


@pytest.mark.parametrize("backend", BACKENDS)
def test_as_eager(backend: str) -> None:
    compiled = autograph(backend=backend)(of_any_size)
    for values in VALUES:
        x = torch.tensor(values)
        torch.testing.assert_close(compiled(x), of_any_size(x), equal_nan=True)


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients(backend: str) -> None:
    compiled = autograph(backend=backend)(of_any_size)
    for values in VALUES[:2]:
        expected, found = (torch.tensor(values, requires_grad=True) for _ in range(2))
        sum(one.sum() for one in of_any_size(expected)[:2]).backward()
        sum(one.sum() for one in compiled(found)[:2]).backward()
        torch.testing.assert_close(found.grad, expected.grad)


def test_whole_numbers() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x[x > 0].long().logsumexp(0)

    x = torch.tensor([1.0, 2.0, -1.0])
    torch.testing.assert_close(autograph(backend="eager")(function)(x), function(x))


LOSSES = [F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.l1_loss, F.binary_cross_entropy_with_logits]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("loss_of", LOSSES, ids=lambda found: found.__name__)
def test_gradients_of_losses_of_nothing(loss_of: Callable[..., torch.Tensor], backend: str) -> None:
    def function(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        loss = loss_of(x @ weight, x.sum(1))
        return loss * 2 if loss.isnan() else loss

    compiled = autograph(backend=backend)(function)
    for rows in (3, 0, 1):
        x = torch.arange(rows * 2.0).view(rows, 2) / 8
        expected, found = (torch.tensor([0.5, -1.0], requires_grad=True) for _ in range(2))
        losses = function(x, expected), compiled(x, found)
        torch.testing.assert_close(losses[1], losses[0], equal_nan=True)
        for loss in losses:
            loss.backward()
        torch.testing.assert_close(found.grad, expected.grad, equal_nan=True)


def of_labelled_rows(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    mask = target != -100
    loss = F.cross_entropy(logits[mask], target[mask], reduction="sum")
    if mask.any():
        loss = loss + F.cross_entropy(logits[mask], target[mask], label_smoothing=0.1)
    return loss


@pytest.mark.parametrize("backend", BACKENDS)
def test_losses_of_classes(backend: str) -> None:
    compiled = autograph(backend=backend)(of_labelled_rows)
    for target in (torch.tensor([2, -100, 0]), torch.tensor([-100, -100, -100])):
        expected, found = (torch.arange(9.0).reshape(3, 3).sin().requires_grad_() for _ in range(2))
        losses = of_labelled_rows(expected, target), compiled(found, target)
        torch.testing.assert_close(losses[1], losses[0])
        for loss in losses:
            loss.backward()
        torch.testing.assert_close(found.grad, expected.grad)
