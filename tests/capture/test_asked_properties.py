"""Questions about tensors and generators that the paths of a branch or loop answer differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch._dynamo.variables.tensor import TensorVariable

from autograph_torch import CaptureError, autograph, convert
from autograph_torch.capture.asked_properties import asked_properties


def of_a_derived_tensor(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    if x.sum() > 0:
        y = y.detach()
    z = y + 1
    return x * (2 if z.requires_grad else 3)


def behind_a_loop(x: torch.Tensor) -> torch.Tensor:
    y, n = torch.zeros(2), x.sum()
    while n > 0:
        y = y + x
        n = n - 4
    return x * (2 if y.requires_grad else 3)


def of_a_leaf(x: torch.Tensor) -> torch.Tensor:
    y = x
    if x.sum() > 0:
        y = x * 1
    return x * (2 if y.is_leaf else 3)


def of_the_layout(x: torch.Tensor) -> torch.Tensor:
    y = torch.stack([x, x])
    if x.sum() > 0:
        y = y.t()
    return x * (2 if y.is_contiguous() else y.stride()[0])


def alike_on_all_paths(x: torch.Tensor) -> torch.Tensor:
    y = x * 2 if x.sum() > 0 else x * 3
    return x * (2 if y.requires_grad else 3) * (2 if y.is_leaf else 3) * y.stride()[0]


@pytest.mark.parametrize("function", [of_a_derived_tensor, behind_a_loop, of_a_leaf, of_the_layout, alike_on_all_paths])
def test_as_eager(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend="eager")
    for value in (1.0, -1.0):
        x = torch.full((2,), value, requires_grad=True)
        torch.testing.assert_close(compiled(x), function(x))


WEIGHT = torch.eye(2, requires_grad=True)


def filled_in_a_branch(x: torch.Tensor) -> torch.Tensor:
    rows = x.new_zeros(3, 2)
    if x.sum() > 3:
        rows[0] = x @ WEIGHT
    return x * (2 if rows.requires_grad else 3)


def changed_in_the_next_branch(x: torch.Tensor) -> torch.Tensor:
    rows = x.new_zeros(3, 2)
    if x.sum() > 3:
        rows[0] = x @ WEIGHT
    column = rows[:, 0]
    if rows.sum() > 4:
        column += 1
    if rows.sum() > 9:
        rows[:, 1].mul_(3.0)
    return x * (2 if rows.requires_grad else 3)


def filled_and_then_computed(x: torch.Tensor) -> torch.Tensor:
    rows = x.detach() * 0
    if x.sum() > 3:
        rows.add_(x)
    rows.mul_(WEIGHT[0])
    return x * (2 if rows.requires_grad else 3)


def handed_on_by_one_path(x: torch.Tensor) -> torch.Tensor:
    rows = x.new_zeros(3, 2)
    if x.sum() > 3:
        rows[0] = x @ WEIGHT
    if rows.sum() > 4:
        rows[1] += WEIGHT[0]
    return x * (2 if rows.requires_grad else 3)


def filled_in_branches_of_branches(x: torch.Tensor) -> torch.Tensor:
    rows = x.new_zeros(3, 2)
    if x.sum() > 3:
        rows[0] = x @ WEIGHT
        if x.sum() > 5:
            rows[1] += WEIGHT[0]
    elif x.sum() > 0:
        if x.max() > 1:
            rows[1] += WEIGHT[0]
    elif x.sum() < -5:
        rows[0] = WEIGHT[0]
    return x * (2 if rows.requires_grad else 3)


def left_open_by_both(x: torch.Tensor) -> torch.Tensor:
    rows = torch.zeros_like(WEIGHT @ WEIGHT)
    if x.sum() > 0:
        if x.sum() > 5:
            rows[1] += WEIGHT[0]
    elif x.sum() < -1:
        rows[0] = WEIGHT[0]
    return x * (2 if rows.requires_grad else 3)


WRITTEN = [
    filled_in_branches_of_branches,
    left_open_by_both,
    filled_in_a_branch,
    changed_in_the_next_branch,
    filled_and_then_computed,
    handed_on_by_one_path,
]


@pytest.mark.parametrize("function", WRITTEN)
def test_of_what_a_branch_has_written_to(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend="eager")
    for value in (0.1, 2.0, 9.0, -1.0):
        for records in (False, True):
            x = torch.full((2,), value, requires_grad=records)
            torch.testing.assert_close(compiled(x), function(x))


def in_the_trips(x: torch.Tensor) -> torch.Tensor:
    y, n, k = torch.zeros(2), x.sum(), 0
    while n > 0:
        if y.requires_grad:
            k += 1
        y = y + x
        n = n - 1
    return y * k


def turned_in_the_trips(x: torch.Tensor) -> torch.Tensor:
    y, n, k = torch.outer(x, x), 0, 0
    while n < 4 and y.sum() < 99:
        if y.is_contiguous():
            k += 1
        y = (y + 1).t()
        n += 1
    return y * k


def written_in_the_trips(x: torch.Tensor) -> torch.Tensor:
    y, n, k = torch.outer(x, x).detach(), 0, 0
    while n < 4 and y.sum() < 99:
        if y.is_contiguous():
            k += 1
        y.add_(1)
        y = (y + 1).t()
        n += 1
    return x * k


def detached_in_the_trips(x: torch.Tensor) -> torch.Tensor:
    y, n, k = x * 2, 0, 0
    while n < 4 and y.sum() < 99:
        if y.requires_grad:
            k += 1
        y = y.detach() + 1
        n += 1
    return x * k


def generator_advanced(x: torch.Tensor) -> torch.Tensor:
    def numbers() -> Iterator[int]:
        yield 1
        yield 2

    found = numbers()
    if x.sum() > 0:
        next(found)
    return x * next(found)


def hook_registered(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    if x.sum() > 0:
        y.register_hook(lambda gradient: gradient * 10)
    return y


def writes_counted(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    if x.sum() > 0:
        y.add_(1)
    return x * y._version


TRIPS = [in_the_trips, turned_in_the_trips, written_in_the_trips, detached_in_the_trips]


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize("function", TRIPS)
def test_in_the_trips_as_eager(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    torch._dynamo.reset()
    compiled = autograph(function, backend="eager")
    for value in (1.0, -1.0, 9.0):
        x = torch.full((2,), value, requires_grad=True)
        torch.testing.assert_close(compiled(x), function(x))


@pytest.mark.parametrize("function", [*TRIPS, generator_advanced, hook_registered, writes_counted])
def test_refused(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    with pytest.raises(
        CaptureError, match="AG314 a question about|AG314 `_version`|AG206 a branch or loop (advances|registers)"
    ):
        torch.compile(convert(function), fullgraph=True, backend="eager")(torch.ones(2, requires_grad=True))


def test_private_names_are_there() -> None:
    before = TensorVariable.var_getattr
    with asked_properties():
        assert TensorVariable.var_getattr is not before
    assert TensorVariable.var_getattr is before


def has_a_step(x: torch.Tensor, w: torch.Tensor) -> tuple[Any, ...]:
    y = x * w
    if y.sum() > 0:
        y = y * 2
    return y, y.grad_fn is not None, x.grad_fn is None, w.grad_fn is None, bool(y.detach().grad_fn)


def names_a_step(x: torch.Tensor, w: torch.Tensor) -> str:
    return type((x * w).grad_fn).__name__


def test_of_a_step_only_whether_there_is_one() -> None:
    torch._dynamo.reset()
    w = torch.ones(2, requires_grad=True)
    compiled = torch.compile(convert(has_a_step), backend="eager", fullgraph=True)
    for value in (1.0, -1.0):
        x = torch.full((2,), value)
        assert compiled(x, w)[1:] == has_a_step(x, w)[1:]
    with pytest.raises(CaptureError, match="`grad_fn`"):
        torch.compile(convert(names_a_step), backend="eager", fullgraph=True)(x, w)


def a_parameter_or_not(w: torch.nn.Parameter, x: torch.Tensor) -> tuple[Any, ...]:
    y = w if x.sum() > 0 else w * 2
    return y.sum().detach(), isinstance(y, torch.nn.Parameter), type(y).__name__


def a_parameter_before_the_loop(w: torch.nn.Parameter, x: torch.Tensor) -> tuple[Any, ...]:
    y: torch.Tensor = w
    while y.sum() < x.sum():
        y = y * 2
    return y.sum().detach(), isinstance(y, torch.nn.Parameter)


def no_parameter_at_all(w: torch.nn.Parameter, x: torch.Tensor) -> tuple[Any, ...]:
    y = w * 3 if x.sum() > 0 else w * 2
    return y.sum().detach(), isinstance(y, torch.nn.Parameter), isinstance(w, torch.nn.Parameter), type(y).__name__


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize("function", [a_parameter_or_not, a_parameter_before_the_loop, no_parameter_at_all])
def test_whether_it_is_a_parameter(function: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    for value in (1.0, -1.0, 9.0):
        x = torch.full((2,), value)
        assert compiled(torch.nn.Parameter(torch.ones(2)), x) == function(torch.nn.Parameter(torch.ones(2)), x)
