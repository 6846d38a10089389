"""Functions of Python's math, and round, of numbers that data tell: their values, types and exceptions are Python's."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.calls_in_turn import differing_calls
from tests.harness import agreement, check_any_graph, compiled, ints, program, vec

INPUTS = [
    lambda: (vec(0.75, -2.5, 3.25), ints(16, 4, 3)),
    lambda: (vec(0.5, 2.5, -3.25), ints(101, 7, 2)),
    lambda: (vec(0.1, -0.0, 5.5), ints(12, 8, 0)),
]


@program(inputs=INPUTS)
def of_floats(x: Tensor, _: Tensor) -> Any:
    a, b, c = x.tolist()
    signs = math.copysign(1, b), math.copysign(x[0], x[1]), math.copysign(a > 0.2, b)
    lengths = math.hypot(a, b, c), math.dist((a, b), [c, 1]), math.fsum([a, b, c]), math.fsum(v * v for v in x.tolist())
    angles = math.degrees(a), math.radians(x[1]), math.atan2(a, b)
    parts = math.fmod(c, a), math.remainder(c, a), math.ldexp(c, 3), math.ulp(a), math.nextafter(a, math.inf)
    return signs, lengths, angles, parts, math.erf(a), math.gamma(a), math.asinh(b)


@program(inputs=INPUTS)
def of_integers(_: Tensor, i: Tensor) -> Any:
    n, m, k = (one.item() for one in i)
    return (
        math.gcd(n, m),
        math.gcd(n, m, k),
        math.lcm(n, m),
        math.comb(n, k),
        math.perm(m, k),
        math.isqrt(n),
        (torch.arange(math.gcd(n, m)) * math.factorial(k)),
    )


@program(inputs=INPUTS)
def in_branches_and_loops(x: Tensor, i: Tensor) -> Any:
    total, n = 0.0, i[0].item()
    while total < 4:
        total += math.degrees(abs(x[0].item())) / 10 + math.gcd(n, 2)
    if x[1] > 0:
        x = x * math.copysign(2, x[2].item())
    return x, total


@program(inputs=INPUTS)
def close(x: Tensor, i: Tensor) -> Any:
    a, b, n = x[0].item(), x[1].item(), i[0].item()
    flags = math.isclose(a, 0.75), math.isclose(a, b, rel_tol=0.1), math.isclose(x[0], b, abs_tol=x[2] + 4)
    return flags, math.isclose(a, b, rel_tol=math.nan, abs_tol=3), math.isclose(n, 16), math.isclose(a, math.inf)


@program(inputs=INPUTS)
def rounded(x: Tensor, i: Tensor) -> Any:
    n, k, v = i[0].item(), i[2].item(), x[2].item()
    return round(n, -1), round(n, ndigits=-2), round(n, 1), round(v / 3, k), round(n, k - 3), round(v / 3, ndigits=2)


@pytest.mark.parametrize("way", ["eager", "one path"])
@pytest.mark.parametrize("function", [of_floats, of_integers, in_branches_and_loops, close, rounded])
@pytest.mark.filterwarnings("error::RuntimeWarning")  # of a graph for some data
def test_python_computes_them(function: Any, way: Any) -> None:
    verdict = agreement(function.__program__, way)
    assert verdict.kind == "equal", verdict.reason


def of_state(x: Tensor, state: Any, n: int, scale: float) -> Any:
    steps, state.steps = state.count.item(), state.steps + 1
    rate = 0.1 * (steps + 1) / 2
    x = x * 2 if x.sum() > 0 else x
    asked = math.isnan(rate), math.isinf(n), math.isfinite(scale), math.isclose(rate, 0.1), math.isclose(n, scale)
    return x.sum().item(), asked, round(n, -1), round(steps, -1)


def test_of_numbers_that_a_call_is_given() -> None:
    def calls() -> Any:
        state = SimpleNamespace(count=torch.tensor(0), steps=0)
        given = [(0, 3, 3.0), (1, 15, 0.5), (25, 25, math.inf), (16, 4, 4.0)]
        return of_state, [
            lambda count=count, n=n, scale=scale: (state.count.fill_(count), (state, n, scale))[1]
            for count, n, scale in given
        ]

    assert not differing_calls(calls)


@program(inputs=[*INPUTS, lambda: (vec(math.inf, 1, 1), ints(25, 2, -1)), lambda: (vec(-1, 1, -1), ints(30, 1, 2))])
def handled(x: Tensor, i: Tensor) -> Any:
    notes: list[Any] = []
    try:
        notes.append(math.factorial(i[0].item()))
        notes.append(math.fmod(x[0].item(), 2))
        notes.append(math.comb(5, i[2].item()))
    except ValueError as error:
        notes.append(str(error))
    if x[2] > 0:
        notes.append(math.isclose(1.0, 1.0, abs_tol=x[2].item()))
    return notes, math.isclose(1.0, 2.0, rel_tol=x[2].item())


@pytest.mark.parametrize("first", range(5))
def test_what_they_raise_is_for_handlers(first: int) -> None:
    check_any_graph(handled)
    every = handled.__program__  # type: ignore[attr-defined]
    inputs = every.inputs[first:] + every.inputs[:first]
    verdict = agreement(type(every)(**{**vars(every), "inputs": inputs}), "one path")
    assert verdict.kind == "equal", verdict.reason


def test_what_was_written_before_an_exception_stays() -> None:
    def step(x: Tensor, state: Any) -> Any:
        state.calls += 1
        x.add_(1)
        return x * math.degrees(x[0].item()), math.factorial(int(x[1]))

    state, x = SimpleNamespace(calls=0), torch.tensor([1.0, 2.0])
    run = compiled(step)
    run(x, state)
    x[1] = -5
    with pytest.raises(ValueError, match="negative values"):
        run(x, state)
    assert state.calls == 2
    assert x.tolist() == [3, -4]
    x[1] = 24
    assert run(x, state)[1] == math.factorial(25)
