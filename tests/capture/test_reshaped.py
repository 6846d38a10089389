"""Shapes and `requires_grad` that a write in place changes: every name tells what eager Python tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.variables.tensor import TensorVariable

from autograph_torch import convert
from autograph_torch.diagnostics import CaptureError


def squeezed(x: torch.Tensor) -> Any:
    y = x + 1
    y.squeeze_(1)
    return y.ndim, y.dim(), y.shape, len(y.size()), y.sum(y.ndim - 1)


def with_rows(x: torch.Tensor) -> Any:
    y = x[:, 0] + 1
    y.unsqueeze_(0)
    y.t_()
    return y.shape, [row.shape for row in y], len(y)


def square(x: torch.Tensor) -> Any:
    y = x @ x.T
    y.transpose_(0, 1)
    return y.stride(), y.is_contiguous()


def by_another_name(x: torch.Tensor) -> Any:
    y = x + 1
    z = y.mul_(2)
    z.squeeze_(1)
    return y.ndim, y.shape, y.sum(-1)


def view_of_what_gets_a_gradient(x: torch.Tensor) -> Any:
    y = torch.zeros(3, 1)
    row = y[0]
    y.add_(x)
    return row.requires_grad, y.requires_grad


def made_in_a_loop(x: torch.Tensor) -> Any:
    while x.sum() > 1:
        z = x + 0
        z.unsqueeze_(0)
        x = z.sum(0) / 2
    return x


def from_around(x: torch.Tensor) -> Any:
    y = x + 1
    if x.sum() > 0:
        y.squeeze_(1)
    return y * 2


FUNCTIONS = (squeezed, with_rows, square, by_another_name, view_of_what_gets_a_gradient, made_in_a_loop)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_asked_of_a_tensor(function: Callable[[torch.Tensor], Any]) -> None:
    x = torch.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
    wanted = function(x)
    got = torch.compile(convert(function), fullgraph=True, backend="eager")(x)
    torch.testing.assert_close(got, wanted)


def test_shape_of_a_tensor_from_around_a_branch() -> None:
    with pytest.raises(CaptureError, match="AG206 `squeeze_` in a branch"):
        torch.compile(convert(from_around), fullgraph=True, backend="eager")(torch.ones(3, 1))


def test_what_torch_still_needs() -> None:
    """Remove capture/reshaped.py when this fails because torch gives what eager Python gives."""
    x = torch.ones(2, 3)
    assert square(x)[0] != torch.compile(square, fullgraph=True, backend="eager")(x)[0]
    assert hasattr(TensorVariable, "synchronize_attributes")
