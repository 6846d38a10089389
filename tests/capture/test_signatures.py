"""inspect.signature in a trace: as Python answers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import autograph, convert
from tests.harness import torch_before


def helper(a: int, b: int = 2, *, c: int = 3, **more: int) -> int:
    return a * b * c


@functools.wraps(helper)
def wrapped(*args: Any, **kwargs: Any) -> int:
    return helper(*args, **kwargs)


class Model(torch.nn.Module):
    def run(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        return x

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, list[Any]]:
        x = x * 2 if x.sum() > 0 else x
        of_method, of_function = inspect.signature(self.run).parameters, inspect.signature(Model.run).parameters
        return x, [set(of_method), "self" in of_function, len(inspect.signature(type(self)).parameters)]


def kinds(x: torch.Tensor) -> tuple[torch.Tensor, list[Any]]:
    found = [inspect.signature(one).parameters for one in (helper, wrapped)]
    open_ends = [any(p.kind == inspect.Parameter.VAR_KEYWORD for p in one.values()) for one in found]
    required = [name for name, p in found[0].items() if p.default is inspect.Parameter.empty]
    return (x * 2 if x.sum() > 0 else x), [open_ends, required, found[0]["c"].default, list(found[1])]


def made_inside(x: torch.Tensor) -> tuple[torch.Tensor, list[Any]]:
    @functools.wraps(helper)
    def wrapping(*args: Any) -> Any:
        return args

    def inner(y: torch.Tensor, by: int = 3, *, k: int = 2) -> torch.Tensor:
        return y * x.sum() if y.sum() > 0 else y * by * k

    told = [inspect.signature(one).parameters for one in (inner, lambda: x, lambda y, *more: y, wrapping)]
    return inner(x), [*map(list, told), told[0]["by"].default, told[0]["k"].default]


INSIDE = pytest.param(
    lambda: made_inside, marks=torch_before("2.12", "`id` of a function that the trace has made is not known")
)


@pytest.mark.parametrize("make", [Model, lambda: kinds, INSIDE])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_as_eager(make: Callable[[], Any], sign: float) -> None:
    x, program = sign * torch.ones(2), make()
    expected, told = program(x)
    converted = torch.compile(convert(program), fullgraph=True, backend="eager")
    for compiled in (converted, autograph(program, backend="eager")):
        actual, answers = compiled(x)
        assert torch.equal(actual, expected)
        assert answers == told


def test_torch_needs_this() -> None:
    def both(x: torch.Tensor) -> tuple[torch.Tensor, bool]:
        model = Model()
        return x + len(inspect.signature(model.run).parameters), "self" in inspect.signature(Model.run).parameters

    assert both(torch.ones(1))[1]
    try:
        _, has_self = torch.compile(both, fullgraph=True, backend="eager")(torch.ones(1))
    except torch._dynamo.exc.Unsupported:
        return
    assert not has_self
