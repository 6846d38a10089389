"""torch.autograd.functional in a function: its calls are followed, under tests on data and in loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import functional
from torch.utils import _pytree as pytree

from autograph_torch import autograph
from tests.harness import torch_before, vec

pytestmark = torch_before("2.12", "requires_grad_() is not traced")
FACTORS = torch.arange(6.0).reshape(3, 2)


def residuals(t: Tensor) -> Tensor:
    return (FACTORS @ t - 1) ** 2


def cubes(t: Tensor) -> Tensor:
    return (t**3).sum()


def gauss_newton(t: Tensor) -> tuple[Tensor, int]:
    trips = 0
    while residuals(t).sum() > 1.5 and trips < 5:
        jacobian = functional.jacobian(residuals, t)
        step = torch.linalg.solve(jacobian.T @ jacobian + 0.1 * torch.eye(2), jacobian.T @ residuals(t))
        t, trips = t - step, trips + 1
    return t, trips


def of_two(t: Tensor) -> Any:
    found = functional.jacobian(lambda a, b: a * b.sum(), (t, t + 1))
    return found, t + 1 if found[0].sum() > 0 else t


def vectorized(t: Tensor) -> Any:
    found = functional.jacobian(residuals, t, vectorize=True)
    return found, t + 1 if found.sum() > 0 else t


def newton(t: Tensor) -> Any:
    found = functional.hessian(cubes, t)
    return found, t - torch.linalg.solve(found, t) if found.det() > 0.1 else t


def products(t: Tensor) -> Any:
    ones = torch.ones(2)
    found = functional.vjp(residuals, t, torch.ones(3)), functional.jvp(residuals, t, ones)
    found += functional.hvp(cubes, t, ones), functional.vhp(cubes, t, ones)
    return found, t + 1 if found[2][1].sum() > 0 else t


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")  # torch records none in a loop
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("function", [gauss_newton, of_two, vectorized, newton, products])
def test_values(function: Callable[[Tensor], Any], backend: str) -> None:
    compiled = autograph(function, backend=backend)
    for given in (vec(1, 1), vec(-2, 0.5), vec(0.1, 0.4)):
        expected, result = function(given), compiled(given)
        assert pytree.tree_structure(result) == pytree.tree_structure(expected)
        for one, other in zip(pytree.tree_leaves(result), pytree.tree_leaves(expected), strict=True):
            torch.testing.assert_close(one, other)


def penalty(t: Tensor) -> Tensor:
    """The gradient of a gradient."""
    found = functional.jacobian(residuals, t, create_graph=True)
    return (found**2).sum() if found.sum() > 0 else found.sum()


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_gradients(backend: str) -> None:
    compiled = autograph(penalty, backend=backend)
    for numbers in ((1.0, 1.0), (-2.0, 0.5)):
        gradients = []
        for call in (penalty, compiled):
            given = vec(*numbers).requires_grad_()
            call(given).backward()
            gradients.append(given.grad)
        torch.testing.assert_close(gradients[1], gradients[0])
