"""Gradients, in a branch, of functions whose formulas treat tensors of no or one element apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from autograph_torch import CaptureError, convert

VALUES = [[1.0, 0.0, 3.0, -1.0], [2.0, -1.0], [-1.0, -2.0]]


def of_a_vector(x: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    if p > 0:
        y = x[x >= 0]
        return y.prod() + y.cumsum(0).sum() + y.logsumexp(0).cos() + y.std() * 2
    return x.sum()


def of_rows(x: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    if p > 0:
        y = x[x >= 0]
        rows = torch.stack([y, y.exp(), y * 3], 1)
        parts = [rows.prod(1), rows.prod(0, keepdim=True), rows.cumsum(dim=1), rows.logcumsumexp(0)]
        parts += [rows.logsumexp((0, 1)), rows.var(1), torch.var(rows, 1, correction=0)]
        parts += [torch.masked_select(rows, y[:, None] > 0.5), F.pad(y, (1, 1))]
        return torch.cat([part.flatten() for part in parts]).cos().sum()
    return x.sum()


def spread_of_rows(x: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    if p > 0:
        rows = torch.stack([x[x >= 0], x[x >= 0].exp()], 1)
        return rows.var(False) + torch.std(rows, dim=(0, 1)) + rows.var(0, keepdim=True).sum()
    return x.sum()


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [of_a_vector, of_rows, spread_of_rows])
def test_on_every_backend(function: Callable[..., torch.Tensor], backend: str) -> None:
    agrees(function, backend)


def test_where_torch_makes_the_gradient_while_it_compiles() -> None:
    agrees(of_a_vector, "aot_eager")


def agrees(function: Callable[..., torch.Tensor], backend: Any) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend=backend)
    for values in VALUES:
        for p in (torch.tensor(1.0), torch.tensor(-1.0)):
            x = torch.tensor(values, requires_grad=True)
            expected = torch.autograd.grad(function(x, p), x)
            actual = torch.autograd.grad(compiled(x, p), x)
            torch.testing.assert_close(actual, expected, equal_nan=True)


def test_other_formulas_are_refused_with_a_line() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x[x > 0].cumprod(0).sum()
        return x.sum()

    torch.compile(convert(function), fullgraph=True, backend="eager")(torch.ones(2, requires_grad=True)).backward()
    compiled = torch.compile(convert(function), fullgraph=True, backend="aot_eager")
    with pytest.raises(CaptureError, match=r"test_sized_gradients.py:\d+:\d+: AG321 the gradient of a function"):
        compiled(torch.ones(2, requires_grad=True))
