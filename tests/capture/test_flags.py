"""Truth values that depend on data, where Python takes them for 0 and 1."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import convert
from tests.calls_in_turn import differing_calls
from tests.harness import agreement, difference, program, vec

INPUTS = [torch.tensor([1.0, 2.0, 3.0]), torch.tensor([-1.0, -2.0, -3.0]), torch.tensor([-4.0, 2.0, 1.0])]


def as_integers(x: torch.Tensor) -> Any:
    flag, other = bool(x.sum() > 0), x.sum().item() > 1
    return int(x[0] > 0), int(flag), int(other), int((x > 0).any()) + 1


def in_arithmetic(x: torch.Tensor) -> Any:
    flag = (x.max() > 2).item()
    return flag + 1, -flag, flag / 4, flag % 2, flag * 2.5, abs(flag), round(flag), x * flag, torch.arange(3) + flag


def shifted(x: torch.Tensor) -> Any:
    flag = (x.max() > 2).item()
    shifts, powers = (flag << 2, 1 << flag, flag >> 1), (pow(flag, 2), pow(2, flag))
    return (
        shifts,
        powers,
        math.floor(flag),
        math.ceil(x[0] > 0),
        math.atan2(flag, 2),
        math.sin(flag),
        math.hypot(3, flag),
    )


def counted(x: torch.Tensor) -> Any:
    hits = 0
    for e in x:
        hits += bool(e > 0)
    return hits, sum((e > 1).item() for e in x)


def as_a_bound(x: torch.Tensor) -> Any:
    n = int(x.sum() > 0) + int(x.max() > 2)
    for i in range(n):
        x = x + i
    return x * n if n > 1 else x


def compared(x: torch.Tensor) -> Any:
    flag, other = bool(x.sum() > 0), bool(x[0] > 3)
    return flag != other, flag < other, flag != 1, flag != 0.5, flag != "a", flag ^ other, flag ^ True


@pytest.mark.parametrize("backend", ["eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("function", [as_integers, in_arithmetic, shifted, counted, as_a_bound, compared])
def test_a_truth_value_is_zero_or_one(function: Any, backend: str) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend=backend)
    for x in INPUTS:
        assert not difference(function(x), compiled(x), "result")


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(2, 3),), lambda: (vec(0, 0),)])
def beside_numbers(x: Tensor) -> Any:
    some, count = bool((x > 1).any()), int((x > 1).sum())
    y = x
    if count == True:  # noqa: E712
        y = y + 1
    if some == 1:
        y = y * 2
    if some != 1.0:
        y = y - 5
    if count != False:  # noqa: E712
        y = y * 3
    return y, some & count, some | count, count ^ some, some & True, "%d" % some, "%02x" % some  # noqa: UP031


@pytest.mark.parametrize("way", ["eager", "one path"])
def test_beside_numbers(way: Any) -> None:
    verdict = agreement(beside_numbers.__program__, way)  # type: ignore[attr-defined]
    assert verdict.kind == "equal", verdict.reason


def of_what_is_given(x: Tensor, n: int) -> Any:
    many, some = n > 3, n > 0
    numbers = many & 1, many | 2, abs(some), -many, 1 << many, math.floor(some), many + 1, many < 2, max(many, 0.5)
    return (x if x.sum() > 0 else -x).sum().item(), numbers, many ^ some, min(some, many), max(some, 1), many == 1


def test_so_are_those_of_numbers_that_are_given() -> None:
    calls = [lambda n=n: (n,) for n in (2, 4, 0, 5, 1)]
    assert not differing_calls(lambda: (of_what_is_given, calls))
