"""Gradients of powers whose exponent depends on data, in a branch and outside."""

from __future__ import annotations

import pytest
import torch

from autograph_torch import convert
from tests.harness import torch_before


def power(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x ** n.item()
    else:
        y = x.exp()
    return y * x.abs() ** (n.item() / 2 + 1.5)


@torch_before("2.12", "such an exponent is refused (AG321)")
@pytest.mark.parametrize("backend", ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_gradients(backend: str) -> None:
    compiled = torch.compile(convert(power), fullgraph=True, backend=backend)
    for n in (3, 1, 0):
        for sign in (1.0, -1.0):
            x = (torch.tensor([0.5, 2.0]) * sign).requires_grad_()
            (expected,) = torch.autograd.grad(power(x, torch.tensor(n)).sum(), x)
            (actual,) = torch.autograd.grad(compiled(x, torch.tensor(n)).sum(), x)
            torch.testing.assert_close(actual, expected)
