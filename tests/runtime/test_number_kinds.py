"""What is known of numbers holds for every number, and for what is computed of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograph_torch.runtime.number_kinds import computed, holds, joined, kind_of, type_name

DTYPES = (
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.complex64),
)
WITH_BOUNDS = (operator.add, operator.sub, operator.mul, operator.neg, operator.abs)
OTHERS = (operator.truediv, operator.pow, operator.lt, operator.mod)
FIXED = st.builds(lambda whole, digits: whole / 2**digits, st.integers(-(2**12), 2**12), st.integers(0, 6))
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | FIXED
SMALL = st.integers(-300, 300) | FIXED | st.booleans()


def is_of(number: Any, kind: str) -> bool:
    """Whether a number is of a kind, as the text says."""
    name, *bounds = kind.split(":")
    if type(number).__name__ != name or not bounds or not math.isfinite(number):
        return type(number).__name__ == name
    bound, digits = map(int, bounds)
    return abs(number) <= bound and (Fraction(number) * 2**digits).denominator == 1


def is_held(dtype: torch.dtype, number: Any) -> bool:
    return bool(torch.tensor(number, dtype=dtype).item() == number)


@given(NUMBERS)
def test_a_constant_is_of_its_kind(number: Any) -> None:
    assert is_of(number, kind_of(number))


@given(NUMBERS, NUMBERS)
def test_numbers_are_of_the_kinds_joined(one: Any, other: Any) -> None:
    kinds = joined([kind_of(one), kind_of(other)])
    assert len({type_name(kind) for kind in kinds}) == len(kinds)
    for number in (one, other):
        assert any(is_of(number, kind) for kind in kinds)


@given(st.sampled_from(WITH_BOUNDS), SMALL, SMALL)
def test_what_is_computed_is_of_the_computed_kind(function: Callable[..., Any], one: Any, other: Any) -> None:
    numbers = (one,) if function in (operator.neg, operator.abs) else (one, other)
    assert is_of(function(*numbers), computed(function, [kind_of(number) for number in numbers]))


@pytest.mark.parametrize(
    ("function", "kind"),
    [(operator.sub, "float:5:2"), (operator.mul, "float:6:3"), (operator.truediv, "float"), (operator.lt, "bool")],
)
def test_bounds_of_what_is_computed(function: Callable[..., Any], kind: str) -> None:
    assert computed(function, ["float:2:1", "float:3:2"]) == kind


@pytest.mark.parametrize("function", OTHERS)
def test_of_other_operators_the_type_is_known(function: Callable[..., Any]) -> None:
    assert computed(function, ["float:1:0", "float:2:0"]) == type(function(1.0, 2.0)).__name__


@given(st.sampled_from(DTYPES), SMALL)
def test_what_is_held_is_held_exactly(dtype: torch.dtype, number: Any) -> None:
    if holds(dtype, kind_of(number)):
        assert is_held(dtype, number)


@pytest.mark.parametrize(
    ("kind", "held"),
    [
        ("int", {torch.int64, torch.float64}),
        ("float", {torch.float64}),
        ("bool", set(DTYPES)),
        ("int:0:0", set(DTYPES)),
        ("int:100:0", set(DTYPES) - {torch.uint8}),
        ("int:257:0", set(DTYPES) - {torch.uint8, torch.int8, torch.bfloat16}),
        ("float:2:20", {torch.float32, torch.complex64, torch.float64}),
        ("float:1:24", {torch.float32, torch.complex64, torch.float64}),
        ("float:1:25", {torch.float64}),
    ],
)
def test_what_types_hold(kind: str, held: set[torch.dtype]) -> None:
    found = {dtype for dtype in DTYPES if holds(dtype, kind)} - {torch.complex64}
    assert found == held - {torch.complex64}


@pytest.mark.parametrize("number", [math.inf, -math.inf])
def test_infinities_are_held_by_every_type_of_floats(number: float) -> None:
    assert all(holds(dtype, kind_of(number)) for dtype in DTYPES if dtype.is_floating_point)
    assert computed(operator.add, [kind_of(number), "float:3:1"]) == "float:3:1"


def test_a_kind_without_bounds_stays_so() -> None:
    assert joined(["float:1:0", "float", "int:2:0", "bool"]) == ["bool", "float", "int:2:0"]
    assert computed(operator.add, ["float", "float:1:0"]) == "float"
