"""Gradients that are computed in a branch or loop on data, of what was recorded before it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, autograph, convert


def conjugate_gradients(x: Tensor, matrix: Tensor) -> tuple[Tensor, int]:
    """Newton's step, by products with the Hessian."""
    loss = 0.5 * x @ matrix @ x + x.sum().cos()
    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    p, r, k = torch.zeros(2), -g.detach(), 0
    d = r
    while r @ r > 1e-8 and k < 4:
        (product,) = torch.autograd.grad(g, x, d, retain_graph=True)
        a = (r @ r) / (d @ product)
        p, old, r = p + a * d, r @ r, r - a * product
        d, k = r + (r @ r) / old * d, k + 1
    return p, k


def arguments(scale: float) -> tuple[Tensor, Tensor]:
    return torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([[3.0, 0.5], [0.5, 2.0]]) * scale


def test_refused_in_the_graph_for_all_data() -> None:
    """The trace of the body succeeds: torch would raise when the graph runs."""
    compiled = torch.compile(convert(conjugate_gradients), backend="eager", fullgraph=True)
    with pytest.raises(CaptureError, match="AG320 a gradient is computed in a branch or loop"):
        compiled(*arguments(1.0))  # to follow one path would be an error in these tests


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_followed_on_a_path(backend: str) -> None:
    compiled = autograph(conjugate_gradients, backend=backend)
    for scale in (1.0, 0.1):
        for one, other in zip(compiled(*arguments(scale)), conjugate_gradients(*arguments(scale)), strict=True):
            torch.testing.assert_close(one, other)
