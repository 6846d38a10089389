"""A backward pass that is to be differentiated itself is refused where torch would raise late, or give zeros."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.autograd.functional import hessian

from autograph_torch import CaptureError, autograph, convert


def decay(x: Tensor) -> Tensor:
    y = x
    while y.norm() > 1:
        y = y * y.cos() * 0.5
    if y.sum() > 0:
        y = y**3
    return y.sum()


X = torch.tensor([1.0, 2.0])


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_refused_where_graphs_are_compiled(backend: str) -> None:
    for compiled in (
        autograph(decay, backend=backend),
        torch.compile(convert(decay), fullgraph=True, backend=backend),
    ):
        x = X.clone().requires_grad_()
        torch.testing.assert_close(torch.autograd.grad(compiled(x), x), torch.autograd.grad(decay(x), x))
        with pytest.raises(CaptureError, match="AG326"):
            torch.autograd.grad(compiled(x), x, create_graph=True)
        with pytest.raises(CaptureError, match=r"test_second_gradients.py:\d+:\d+: AG326"):
            hessian(compiled, X)


def test_there_on_the_backend_that_compiles_nothing() -> None:
    torch.testing.assert_close(hessian(autograph(decay, backend="eager"), X), hessian(decay, X))


def test_what_torch_does_without_the_refusal() -> None:
    """When this fails, torch has become right and the refusal can go for that version."""

    def cube(x: Tensor) -> Tensor:
        return (x**3).sum()

    compiled = torch.compile(cube, fullgraph=True, backend="aot_eager")
    assert type(compiled(X.clone().requires_grad_()).grad_fn).__name__ == "CompiledFunctionBackward"
    assert not hessian(compiled, X).any()
