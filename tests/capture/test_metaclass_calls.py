"""Calls, properties and instances of a class are what its metaclass says."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch.capture import metaclass_calls
from tests.harness import compiled, leave_out


class Counting(type):
    made: list[Any]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        cls.made.append(made.value)
        return made


class Single(type):
    one: Any = None

    def __call__(cls, *args: Any) -> Any:
        if cls.one is None:
            cls.one = super().__call__(*args)
        return cls.one


class Counted(metaclass=Counting):
    made: list[Any] = []

    def __init__(self, value: Any, more: int = 0) -> None:
        self.value = value


class Alone(metaclass=Single):
    def __init__(self, value: float) -> None:
        self.value = value


class Rated(type):
    base: float
    asked: int

    @property
    def rate(cls) -> float:
        cls.asked += 1
        return cls.base * 2

    def __instancecheck__(cls, one: Any) -> bool:
        return bool(one.n > cls.base)


class Rate(metaclass=Rated):
    base = 1.0
    asked = 0


class Asked:
    def __init__(self) -> None:
        self.n = 0


class Way(enum.Enum):
    UP = 1
    DOWN = -1


def counted(x: Tensor) -> Any:
    Counted.made.clear()
    one = Counted(x.sum(), more=1)
    if x.sum() > 0:
        x = x * Counted(2.0).value
    return one.value, len(Counted.made) > 0, x


def alone(x: Tensor) -> Any:
    one, other = Alone(1.0), Alone(2.0)
    return one is other, other.value, x * one.value if x.sum() > 0 else x


def of_an_enumeration(x: Tensor) -> Any:
    return Way(1), Way(-1).name, x * 2 if x.sum() > 0 else x


def with_a_property(x: Tensor) -> Any:
    Rate.base, Rate.asked = 1.0, 0
    if x.sum() > 0:
        Rate.base = Rate.base + 1
    return x * Rate.rate, Rate.asked


def with_instances(x: Tensor) -> Any:
    one = Asked()
    Rate.base = 0.5
    before = isinstance(one, Rate)
    one.n += 1
    return before, isinstance(one, Rate), x * 2 if x.sum() > 0 else x


@pytest.mark.parametrize("function", [counted, alone, of_an_enumeration, with_a_property, with_instances])
def test_as_in_eager(function: Callable[..., Any]) -> None:
    run = compiled(function)
    for x in (torch.ones(2), -torch.ones(2)):
        Single.one = None
        found = repr(run(x))
        Single.one = None
        assert found == repr(function(x))


@pytest.mark.parametrize("function", [counted, alone])
def test_not_without(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, metaclass_calls.metaclass_calls)
    Alone.one = None  # type: ignore[assignment]
    expected = repr(function(torch.ones(2)))
    Alone.one = None  # type: ignore[assignment]
    assert repr(compiled(function)(torch.ones(2))) != expected
