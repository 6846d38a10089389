"""What branches and loops give is laid out in memory as in eager, where all paths lay it out alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from autograph_torch import convert
from autograph_torch.runtime.reordering import inverse, order_of

Results = tuple[Any, ...]


def in_columns(x: torch.Tensor) -> Results:
    y = x.t() * 2 if x.sum() > 0 else x.t() * 3
    return y, y + 1, y.stride()


def on_one_side(x: torch.Tensor) -> Results:
    y = None
    if x.sum() > 0:
        y = x.t() * 2
    return (y, x) if y is not None else (x,)


def in_a_loop(x: torch.Tensor) -> Results:
    y, trips = x.t() * 1, 0
    while y.sum() < 100:
        y = y * 2 + 1
        trips += y.stride(1)
    return y, trips


def written_in_a_loop(x: torch.Tensor) -> Results:
    y = x.t() * 1
    while y.sum() < 100:
        y.add_(3)
        y = y + 10
    return y, y.reshape(-1)


def nested(x: torch.Tensor) -> Results:
    y = x.t() * 1
    while y.sum() < 100:
        y = y * 2 if y.sum() > 3 else y + 30
    y.add_(1)
    return (y,)


def handed_on(x: torch.Tensor) -> Results:
    y = x.t() * 1
    z, w = y, y * 2
    while z.sum() < 100:
        z, w = z + 10, z
    return y, z, w, z is y


def factor(x: torch.Tensor) -> Results:
    whole = x @ x.t()
    lower, info = torch.linalg.cholesky_ex(whole)
    shift = 1.0
    while info > 0:
        lower, info = torch.linalg.cholesky_ex(whole + shift * torch.eye(len(whole)))
        shift *= 2
    return lower, shift


def with_numbers_beside(x: torch.Tensor) -> Results:
    y = x.t() * 2
    places = y.argsort(dim=0)
    flags = y > 1
    if x.sum() > 0:
        y, places, flags, count = y + 1, places + 1, ~flags, 3
    else:
        y, places, flags, count = y + 2, places + 2, flags.logical_not(), 4
    return y, places, flags, count


def of_four_dimensions(x: torch.Tensor) -> Results:
    image = x.reshape(1, 2, -1, 1).expand(2, 2, -1, 3).contiguous(memory_format=torch.channels_last)
    if x.sum() > 0:
        image = F.relu(image) + 1
    mixed = image.permute(3, 0, 2, 1) * 2 if x.max() > 2 else image.permute(3, 0, 2, 1) * 3
    return image, mixed, mixed.flatten(1)


PROGRAMS = [
    in_columns,
    on_one_side,
    in_a_loop,
    written_in_a_loop,
    nested,
    handed_on,
    factor,
    with_numbers_beside,
    of_four_dimensions,
]
CALLS = [torch.arange(6.0).reshape(2, 3), -torch.arange(6.0).reshape(2, 3) + 5.5, torch.arange(8.0).reshape(2, 4) + 30]


def _strides(value: Any) -> Any:
    return (value.stride(), value.tolist()) if isinstance(value, torch.Tensor) else value


def _compare(function: Callable[..., Results], backend: str, calls: list[torch.Tensor], dynamic: bool) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True, dynamic=dynamic)
    for call in calls:
        expected, found = (one(call.clone()) for one in (function, compiled))
        assert list(map(_strides, found)) == list(map(_strides, expected))


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_strides_are_those_of_eager(function: Callable[..., Results]) -> None:
    _compare(function, "eager", CALLS, dynamic=False)


@pytest.mark.parametrize("function", [in_columns, in_a_loop, written_in_a_loop], ids=lambda function: function.__name__)
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_strides_are_those_of_eager_where_the_graph_is_compiled(function: Any, backend: str) -> None:
    _compare(function, backend, CALLS[:2], dynamic=False)


@pytest.mark.parametrize("function", [in_columns, in_a_loop, nested], ids=lambda function: function.__name__)
def test_strides_are_those_of_eager_whatever_the_sizes(function: Callable[..., Results]) -> None:
    _compare(function, "eager", CALLS, dynamic=True)


def with_a_gradient(x: torch.Tensor, w: torch.Tensor) -> Results:
    y = (x * w).t() * 1
    for _ in range(4):
        if y.sum() > 100:
            break
        y = y * 2 + w.sum() if y.max() > 3 else y + w.mean()
    return (y,)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_gradients_go_through_what_is_laid_out_in_columns(backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(with_a_gradient), backend=backend, fullgraph=True)
    for x in CALLS:
        found = []
        for function in (with_a_gradient, compiled):
            w = torch.tensor(1.5, requires_grad=True)
            (y,) = function(x, w)
            (y * y).sum().backward()
            found.append((y.stride(), y.tolist(), w.grad))
        assert found[0] == found[1]


def loses_rows(x: torch.Tensor) -> Results:
    y, removed = x.t(), 0
    while len(y) > 1 and y.sum() > 3:
        y = y[1:]
        removed += 1
    return y * 1, removed


def test_rows_are_lost_whatever_the_layout() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(loses_rows), backend="eager", fullgraph=True)
    for x in CALLS:
        found, expected = compiled(x), loses_rows(x)
        assert found[0].equal(expected[0]) and found[1] == expected[1]


def differently_in_branches(x: torch.Tensor) -> torch.Tensor:
    return x.t() * 2 if x.sum() > 0 else x.flatten().reshape(x.shape[::-1]) * 3


def differently_in_trips(x: torch.Tensor) -> torch.Tensor:
    y = x.t() * 1
    while y.sum() < 100:
        y = (y + 9).contiguous()
    return y


@pytest.mark.parametrize("function", [differently_in_branches, differently_in_trips])
def test_what_paths_lay_out_differently_lies_row_by_row(function: Callable[..., torch.Tensor]) -> None:
    """Not as in eager on all paths (docs/limits.md); never so that `view` raises where it does not in eager."""
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    for x in CALLS:
        found = compiled(x)
        assert found.is_contiguous() and found.equal(function(x))


def test_the_order_of_dimensions_is_told_from_strides() -> None:
    x = torch.empty(2, 3, 4, 5)
    assert order_of(x) is None
    assert order_of(x[:, 1:]) is None  # in their order, with gaps
    assert order_of(x[0, 0].t()) == (1, 0)
    assert order_of(x.to(memory_format=torch.channels_last)) == (0, 2, 3, 1)
    assert order_of(x.permute(3, 1, 0, 2)) == (2, 1, 3, 0)
    assert order_of(torch.empty(5, 1).t()) is None
    assert x.permute(3, 1, 0, 2).permute(2, 1, 3, 0).permute(inverse((2, 1, 3, 0))).stride() == (1, 20, 60, 5)


def test_sizes_that_only_data_tell_have_no_order() -> None:
    with torch._subclasses.FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True):
        rows = torch.empty(7, 3).nonzero()
        assert order_of(rows.t()) is None
