"""What Python refuses to compute, it refuses before what follows, and where nobody uses the result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.output_graph import OutputGraph

from autograph_torch.capture.unused_numbers import unused_numbers
from tests.harness import check_any_graph, compiled, leave_out, program, vec

ROWS = [lambda: (vec(3, 2),), lambda: (vec(0, 0),), lambda: (vec(float("nan"), 0),), lambda: (vec(-3, -2),)]


@program(inputs=ROWS)
def is_finite(x: Tensor) -> Any:
    try:
        int(x.sum())
    except ValueError:
        return x * 0
    return x + 1


@program(inputs=ROWS)
def divides(x: Tensor) -> Any:
    s = x.sum().item()
    try:
        1 / s
    except ZeroDivisionError:
        return x * 0
    return x + 1


@program(inputs=ROWS)
def a_statistic_that_is_not_shown(x: Tensor) -> Any:
    found = {"mean": x.mean().item(), "inverse": 1 / x.sum().item()}
    return found["mean"]


@program(inputs=ROWS)
def a_number_that_others_are_made_of(x: Tensor) -> Any:
    rate = 3 / (x > 0).sum().item()
    rate = -(rate + 1)
    return x * 2


@program(inputs=ROWS)
def shifted(x: Tensor) -> Any:
    return 1 << (x > 0).sum().item() - 1, x


@program(inputs=ROWS)
def a_shift_that_is_not_used(x: Tensor) -> Any:
    1 << (x > 0).sum().item() - 1
    return x + 1


@program(inputs=ROWS)
def a_root_that_is_not_used(x: Tensor) -> Any:
    math.sqrt(x.sum().item())
    return x + 1


@program(inputs=ROWS)
def written_behind_an_integer(x: Tensor) -> Any:
    n = int(x.sum())
    x.add_(1)
    return n


@program(inputs=ROWS)
def written_behind_a_rounded_number(x: Tensor) -> Any:
    n = round(x.sum().item())
    x.add_(1)
    return n


@program(inputs=ROWS)
def printed_behind_a_floor(x: Tensor) -> Any:
    n = math.floor(x.sum().item())
    print("done")
    return n


@program(inputs=ROWS)
def printed_behind_an_integer(x: Tensor) -> Any:
    n = int(x.sum())
    print("done")
    return n


@program(inputs=[lambda make=make: (*make(), []) for make in ROWS])
def raises_behind_a_write(x: Tensor, steps: list[int]) -> Any:
    steps.append(1)
    x.add_(1)
    n = int(x.sum())
    steps.append(n)
    return x * 2


PROGRAMS = (
    printed_behind_an_integer,
    raises_behind_a_write,
    is_finite,
    divides,
    a_statistic_that_is_not_shown,
    a_number_that_others_are_made_of,
    shifted,
    a_shift_that_is_not_used,
    a_root_that_is_not_used,
    written_behind_an_integer,
    written_behind_a_rounded_number,
    printed_behind_a_floor,
)


@pytest.mark.parametrize("subject", PROGRAMS, ids=lambda subject: subject.__name__)
def test_as_eager(subject: Any) -> None:
    check_any_graph(subject)


@pytest.mark.parametrize("subject", [divides, is_finite, written_behind_an_integer], ids=lambda one: one.__name__)
def test_as_eager_where_the_backend_compiles(subject: Callable[..., Any]) -> None:
    found = compiled(subject, "aot_eager")
    for x in (vec(3, 2), vec(0, 0), vec(float("nan"), 0)):
        assert _outcome(found, x.clone()) == _outcome(subject, x.clone())


def _outcome(function: Callable[..., Any], x: Tensor) -> str:
    try:
        return f"{function(x)} {x}"
    except ValueError as error:
        return f"{error} {x}"


def test_without_it_numbers_are_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, unused_numbers)
    assert compiled(divides)(vec(0, 0)).tolist() == [1.0, 1.0]


def test_torch_has_these_names() -> None:
    assert hasattr(OutputGraph, "remove_unused_graphargs")


def far_apart(x: Tensor) -> Any:
    n = int(x[0]) - int(x[1])
    return x * 0 + 1 if n > 0 else x * 0 - 1


def negated(x: Tensor) -> Any:
    return -x[0].item() > 0


def compared_with_what_is_too_long(x: Tensor) -> Any:
    n = x.sum().item()
    if n < 2**64:
        n += 1
    return n, n != 10**20


def doubled(x: Tensor) -> Any:
    n = int(x[0])
    k = 0
    while k < int(x[1]):
        n = n + n
        k += 1
    return n


def doubled_in_a_branch(x: Tensor) -> Any:
    n = x.sum().item()
    if n > 0:
        n = n + n
    return n


@pytest.mark.parametrize("function", [doubled, doubled_in_a_branch, far_apart, negated, compared_with_what_is_too_long])
def test_integers_beyond_64_bits(function: Callable[..., Any]) -> None:
    found = compiled(function)
    for row in ([2**62, -(2**62) - 5], [3, 4], [-(2**63), 5], [2**62, 3]):
        assert str(found(torch.tensor(row))) == str(function(torch.tensor(row)))
