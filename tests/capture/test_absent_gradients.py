"""A gradient that is there for some data only is none that a graph for all data computes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, OnePathWarning, convert

Loss = Callable[..., Any]


def one_side(w: torch.Tensor, v: torch.Tensor, x: torch.Tensor) -> Any:
    loss = (w * x).sum()
    if loss > 0:
        loss = loss + (v * x).sum()
    loss.backward()
    return v.grad


def a_loop(w: torch.Tensor, v: torch.Tensor, x: torch.Tensor) -> Any:
    loss = (w * x).sum()
    while loss < 4:
        loss = loss + (v * x).sum().abs() + 1
    return torch.autograd.grad(loss, [w, v], allow_unused=True)


def every_side(w: torch.Tensor, v: torch.Tensor, x: torch.Tensor) -> Any:
    loss = (w * x).sum()
    if loss > 0:
        loss = loss + (v * x).sum()
    else:
        loss = loss * v.sum()
    while loss < 4:
        loss = loss * 2 + 5
    loss.backward()
    return v.grad


def behind(w: torch.Tensor, v: torch.Tensor, x: torch.Tensor) -> Any:
    loss = (w * x).sum()
    if loss > 0:
        loss = loss + (v * x).sum()
    row = torch.zeros(2)
    row[0] = v.sum()
    (loss + row.sum()).backward()
    return v.grad


def call(function: Loss, value: float) -> Any:
    w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    return function(w, v, torch.full((2,), value)), w.grad, v.grad


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [one_side, a_loop])
def test_it_is_refused_or_that_of_a_path(function: Loss, backend: str) -> None:
    fast = torch.compile(convert(function), backend=backend, fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", OnePathWarning)
        with pytest.raises(CaptureError, match="whether there is a gradient depends on data"):
            call(fast, 1.0)
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OnePathWarning)
        for value in (1.0, -1.0, 3.0):
            assert repr(call(fast, value)) == repr(call(function, value))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [every_side, behind])
def test_there_always_is_one(function: Loss, backend: str) -> None:
    fast = torch.compile(convert(function), backend=backend, fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", OnePathWarning)
        for value in (1.0, -1.0, 3.0):
            assert repr(call(fast, value)) == repr(call(function, value))
