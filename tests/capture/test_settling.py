"""A value that is a Python number on one path and a tensor on another: never of the wrong type."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.output_graph import SubgraphTracer

from autograph_torch import CaptureError, convert
from tests.harness import Program, check, integer, vec


def number_or_tensor(x: Tensor):
    penalty = 0.0
    if x.sum() > 0:
        penalty = (x**2).sum()
    return x.sum() + penalty, penalty


def arithmetic_of_it(x: Tensor):
    penalty = 0
    if x.sum() > 0:
        penalty = (x**2).sum()
    return -penalty * 2 / 3


def two_of_them(x: Tensor):
    a, b = 0, 0
    if x.sum() > 0:
        a = x.sum()
    if x[0] < 2:
        b = x[1]
    return a + b


def through_another_branch(x: Tensor):
    penalty = 0
    if x.sum() > 0:
        penalty = x.sum()
    if x[0] > 2:
        penalty = penalty * 2
    else:
        penalty = penalty + 1
    return penalty


def loop_without_a_trip(x: Tensor):
    total = 0
    for k in range((x > 0).sum()):
        total = total + x[k]
    return total / 2


def loop_that_may_skip_all(x: Tensor):
    total, n = 0, torch.tensor(0)
    while n < 3:
        if x[0] > n:
            total = total + x[1]
        n = n + 1
    return total


def printed(x: Tensor):
    total = 0
    x = x.detach() + 1
    if x.sum() > 3:
        total = x.sum()
    print("total", total)
    return x * total


def attribute(x: Tensor):
    state = {"loss": 0}
    if x.sum() > 0:
        state["loss"] = x.sum()
    return state


@dataclass
class Total:
    """A sum, which may be that of nothing."""

    value: Any = 0


def in_an_object(x: Tensor):
    """Where the second branch is not taken, it hands out the object of the first, which is made again."""
    total = Total()
    if x[0] > 0:
        total = Total(total.value + x[0])
    if x[1] > 0:
        total = replace(total, value=total.value + x[1])
    return total


def in_an_object_of_a_loop(x: Tensor):
    total = Total()
    for one in x:
        if one > 0:
            total = replace(total, value=total.value + one)
    return total, x + total.value


def computed_in_many_steps(x: Tensor):
    """The ways from the result to the branch double with each step."""
    step = 1
    if x.sum() > 0:
        step = (x > 0).sum()
    for _ in range(30):
        step = (step + 1) % 7 + step
    return step, x * step


PROGRAMS = (
    number_or_tensor, arithmetic_of_it, two_of_them, through_another_branch,
    loop_without_a_trip, loop_that_may_skip_all, printed, attribute, in_an_object, in_an_object_of_a_loop,
    computed_in_many_steps,
)  # fmt: skip
INPUTS = tuple((lambda x=x: (vec(*x),)) for x in ((1, 2), (-1, -2), (3, 1), (-5, 9), (3, -1)))


LONG_TRACE = pytest.param(loop_that_may_skip_all, marks=pytest.mark.slow, id=loop_that_may_skip_all.__name__)


@pytest.mark.parametrize("function", [LONG_TRACE if one is loop_that_may_skip_all else one for one in PROGRAMS])
def test_under_autograph_the_result_is_that_of_eager(function: Callable[..., object]) -> None:
    for grad in (False, True):
        verdict = check(Program(function.__name__, "settling", lambda: function, INPUTS, grad), "decorator")
        assert verdict.kind == "equal", verdict.reason


@pytest.mark.parametrize(
    "function",
    [
        number_or_tensor,
        arithmetic_of_it,
        through_another_branch,
        loop_without_a_trip,
        in_an_object,
        in_an_object_of_a_loop,
        computed_in_many_steps,
    ],
)
def test_a_result_is_picked_behind_the_graph(function: Callable[..., object]) -> None:
    verdict = check(Program(function.__name__, "settling", lambda: function, INPUTS), "eager")
    assert verdict.kind == "equal", verdict.reason


@pytest.mark.parametrize("backend", ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_a_number_is_not_shown_as_a_tensor(backend: str) -> None:
    compiled = torch.compile(convert(printed), backend=backend)  # without fullgraph=True, no call runs again
    torch.testing.assert_close(compiled(vec(1, 2)), printed(vec(1, 2)))
    with pytest.raises(CaptureError, match="AG310 on this path a result of the function is a Python number"):
        compiled(vec(-1, -2))


@pytest.mark.parametrize("function", [printed, two_of_them])
def test_without_the_decorator_a_call_that_gives_the_number_runs_in_python(function: Callable[..., object]) -> None:
    verdict = check(Program(function.__name__, "settling", lambda: function, INPUTS), "eager")
    assert verdict.kind == "equal", verdict.reason


def test_a_loop_that_surely_makes_a_trip_gives_a_tensor() -> None:
    def until_large(x: Tensor):
        total = 0
        while True:
            total = total + x.sum()
            if total.abs() > 20:
                break
        return total

    compiled = torch.compile(convert(until_large), fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(vec(1, 2)), until_large(vec(1, 2)))


def test_inside_of_the_graph_it_is_a_tensor() -> None:
    def added(x: Tensor, n: Tensor):
        total = 0
        for k in range(n):
            total = total + x[k]
        return x + total

    compiled = torch.compile(convert(added), fullgraph=True, backend="eager")
    for n in (0, 2):
        torch.testing.assert_close(compiled(vec(1, 2), integer(n)), added(vec(1, 2), integer(n)))


def test_names_of_the_tracer() -> None:
    assert "lifted_freevars" in inspect.getsource(SubgraphTracer)
