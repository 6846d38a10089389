"""Parameters that a function freezes, for a while or for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograph_torch import CaptureError, convert
from tests.harness import torch_before

pytestmark = [
    pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning"),
    torch_before("2.12", "requires_grad_() is not traced"),
]


class Pair(nn.Module):
    """A generator and a critic."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.maker, self.critic = nn.Linear(2, 2), nn.Linear(2, 1)


class StepOfTheMaker(Pair):
    def forward(self, z: Tensor) -> Tensor:
        for p in self.critic.parameters():
            p.requires_grad_(False)
        loss = F.softplus(-self.critic(self.maker(z))).mean()
        if loss > 0.6:
            loss = loss * 2
        loss.backward()
        for p in self.critic.parameters():
            p.requires_grad_(True)
        with torch.no_grad():
            for p in self.maker.parameters():
                p -= 0.1 * p.grad
        return loss.detach()


class LossOfFrozenFeatures(Pair):
    """The caller computes the gradients."""

    def forward(self, z: Tensor) -> Tensor:
        self.maker.requires_grad_(False)
        features = self.maker(z)
        self.maker.requires_grad_(True)
        return self.critic(features).sum() + (self.maker.bias.sum() if z.sum() > 0 else 0 * self.maker.bias.sum())


class FrozenForGood(Pair):
    def forward(self, z: Tensor) -> Tensor:
        if not self.maker.weight.requires_grad:
            return self.critic(self.maker(z)).sum()
        first = self.critic(self.maker(z)).sum()
        self.maker.weight.requires_grad = False
        self.maker.bias.requires_grad = False
        return first if first > 0 else 2 * first


class WrittenWhileFrozen(Pair):
    def forward(self, z: Tensor) -> Tensor:
        weight = self.critic.weight
        weight.requires_grad_(False)
        weight *= 0.5
        before = weight.sum()
        weight.requires_grad_(True)
        return (weight * z).sum() + before if z.sum() > 0 else weight.sum() + before


def gradients(module: nn.Module) -> list[Tensor | None]:
    return [p.grad for p in module.parameters()]


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("make", [StepOfTheMaker, LossOfFrozenFeatures, FrozenForGood, WrittenWhileFrozen])
def test_frozen(make: Callable[[], nn.Module], backend: str) -> None:
    expected, given = make(), make()
    compiled: Any = torch.compile(convert(given), backend=backend, fullgraph=True)
    for value in (1.0, -1.0, 0.5):
        results = []
        for module, call in ((expected, expected), (given, compiled)):
            module.zero_grad()
            z = torch.tensor([[value, 1.0], [value, -0.5]])
            result = call(z)
            if result.requires_grad:
                result.backward()
            told = [p.requires_grad for p in module.parameters()]
            results.append((result, result.requires_grad, gradients(module), [*module.parameters()], told))
        torch.testing.assert_close(results[1], results[0])


def saliency(x: Tensor, w: Tensor) -> tuple[Tensor | None, Tensor]:
    x.requires_grad_()
    score = (x * w).sum() if x.sum() > 0 else (x**2 * w).sum()
    score.backward()
    return x.grad, score.detach()


def sign_attack(x: Tensor, w: Tensor) -> tuple[Tensor, bool]:
    """What is told is taken back."""
    x.requires_grad_(True)
    loss = ((x * w).tanh()).sum()
    (g,) = torch.autograd.grad(loss, x)
    x.requires_grad_(False)
    if g.norm() > 0.5:
        x += 0.1 * g.sign()
    return x * 2, x.requires_grad


def ascent(x: Tensor, w: Tensor) -> tuple[int, Tensor | None, bool]:
    x.requires_grad = True
    steps = 0
    while steps < 3:
        loss = (x * w).sin().sum()
        if loss > 1:
            break
        loss.backward()
        with torch.no_grad():
            x += 0.5 * x.grad
            x.grad.zero_()
        steps += 1
    return steps, x.grad, x.is_leaf


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("function", [saliency, sign_attack, ascent])
def test_an_argument_that_is_told_to_record(function: Callable[..., Any], backend: str) -> None:
    compiled: Any = torch.compile(convert(function), backend=backend, fullgraph=True)
    for numbers in ((1.0, 2.0), (-1.0, -0.5), (0.1, 0.2)):
        results = []
        for call in (function, compiled):
            x, w = torch.tensor(numbers), torch.tensor([0.5, 1.0])
            shared = x.view(2)
            for _ in range(2):  # behind the first call it may record by itself
                result = call(x, w)
                results.append((result, x.detach().clone(), x.requires_grad, x.grad, shared.detach().clone()))
        torch.testing.assert_close(results[2:], results[:2])


def test_what_depends_on_the_leaf_is_no_result() -> None:
    def doubled(x: Tensor) -> Tensor:
        x.requires_grad_()
        return x * 2 if x.sum() > 0 else x

    with pytest.raises(CaptureError, match="AG320"):
        torch.compile(convert(doubled), backend="eager", fullgraph=True)(torch.ones(2))


def thaws_in_a_branch(layer: nn.Linear, x: Tensor) -> Tensor:
    loss = layer(x).sum()
    if x.sum() > 0:
        layer.requires_grad_(True)
        loss = layer(x).sum()
    return loss


def thaws(layer: nn.Linear, x: Tensor) -> Tensor:
    layer.requires_grad_(True)
    return layer(x).sum() * (2 if x.sum() > 0 else 3)


@pytest.mark.parametrize("records", [False, True])
@pytest.mark.parametrize("step", [thaws, thaws_in_a_branch])
def test_what_depends_on_a_tensor_that_was_thawed_is_no_result(step: Any, records: bool) -> None:
    """The caller would ask for a gradient of the layer, which a compiled graph does not have."""
    layer = nn.Linear(2, 2).requires_grad_(False)
    with pytest.raises(CaptureError, match="AG320"):
        torch.compile(convert(step), fullgraph=True, backend="eager")(layer, torch.ones(3, 2, requires_grad=records))
