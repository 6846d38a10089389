"""Arguments that are equal to those of an earlier call, and not the same: as in eager."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from torch import Tensor

from autograph_torch.capture import equal_constants
from tests.calls_in_turn import Calls, differing_calls
from tests.harness import leave_out, torch_before


def quotient(x: Tensor, a: Any) -> Any:
    return (x if x.sum() > 0 else -x) / a


def sign(x: Tensor, a: Any) -> Any:
    return x + math.copysign(1.0, a)


def texts(x: Tensor, a: Any) -> Any:
    return x + 1, f"{a}", str(a)


def listed(x: Tensor, a: Any) -> Any:
    return x + 1, list(a), sum(a) if len(a) > 1 else 0


ZEROS = [0.0, -0.0, 0.0]
TUPLES = [(1, 0.0), (1, -0.0), (True, 0.0), (1, 0)]
SETS = [{1}, {True}, {1.0}, frozenset({1}), frozenset({True}), {1, 0.0}, {1.0, 0}]
ORDERS = [{0, 8}, {8, 0}, {0, 8}]


def of(function: Callable[..., Any], values: list[Any]) -> Callable[[], Calls]:
    return lambda: (function, [lambda value=value: (value,) for value in values])


@pytest.mark.parametrize("function", [quotient, sign, texts], ids=lambda one: one.__name__)
def test_a_zero_has_a_sign(function: Callable[..., Any]) -> None:
    assert not differing_calls(of(function, ZEROS))


@pytest.mark.parametrize("function", [texts, listed], ids=lambda one: one.__name__)
def test_a_zero_in_a_tuple(function: Callable[..., Any]) -> None:
    assert not differing_calls(of(function, TUPLES))


def taken(x: Tensor, rest: Any) -> Any:
    return next(rest) * 1.0, x + 1 if x.sum() > 0 else x, next(rest, 7)


@torch_before("2.13", "what such an iterator gives is not seen")
def test_what_an_iterator_from_before_gives() -> None:
    def make() -> Calls:
        return taken, [lambda value=value: (iter((value, 2)),) for value in (1, 3, 0.0, -0.0, 1)]

    assert not differing_calls(make)


@pytest.mark.parametrize("sets", [SETS, ORDERS], ids=["types", "orders"])
@pytest.mark.parametrize(
    "function", [pytest.param(texts, marks=torch_before("2.13", "the text of a set is refused")), listed]
)
def test_elements_of_a_set(function: Callable[..., Any], sets: list[Any]) -> None:
    assert list(ORDERS[0]) != list(ORDERS[1])
    assert not differing_calls(of(function, sets))


def test_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch tells them apart."""
    leave_out(monkeypatch, equal_constants.equal_constants)
    assert differing_calls(of(quotient, ZEROS))
    assert differing_calls(of(listed, SETS))
