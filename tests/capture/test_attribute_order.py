"""Attributes come in Python's order, where they are set again, and where data decide whether there is one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import OnePathWarning
from autograph_torch.capture import attribute_order
from tests.harness import compiled, leave_out, vec


class State:
    n = 3

    def __init__(self) -> None:
        self.a, self.b, self.c = 1, 2, 3


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = 1, 2, 3


def set_again(s: Any, x: Tensor) -> Any:
    del s.a
    s.n = x
    s.a = x + 1
    if x.sum() > 0:
        x = x * 2
    return x


def new_and_set_again(s: Any, x: Tensor) -> Any:
    s.n = x
    s.m = 1
    del s.n
    s.n = x + 1
    return x


def deleted_twice(s: Any, x: Tensor) -> Any:
    del s.b
    s.b = x
    del s.b
    s.n = 4
    return x


def by_names_from_data(s: Any, x: Tensor) -> Any:
    for value in x:
        name = "abc"[int(value.abs()) % 3]
        if hasattr(s, name):
            delattr(s, name)
        setattr(s, name, value)
    return x


def set_again_in_a_branch(s: Any, x: Tensor) -> Any:
    if x.sum() > 0:
        _renew(s, 5)
    else:
        s.a = 2
    return x


def _renew(s: Any, value: Any) -> None:
    delattr(s, "a")
    setattr(s, "a", value)  # noqa: B010


def set_by_data(s: Any, x: Tensor) -> Any:
    if x.sum() > 0:
        s.n = x
    s.m = 1
    return x


def set_by_data_on_a_new_object(s: Any, x: Tensor) -> Any:
    new: Any = State()
    if x.sum() > 0:
        new.n = x
        if x.max() > 2:
            s.k = 1
    new.m = s.m = 1
    s.new = new
    return x, new


def set_by_data_on_a_class(s: Any, x: Tensor) -> Any:
    kind = type(s)
    if x.sum() > 0:
        kind.n = x.sum()
    kind.m = 1
    return x


def _with(*names: str) -> Callable[[Any], Any]:
    def change(s: Any) -> Any:
        for name in names:
            setattr(s, name, 0)
        return s

    return change


CHANGES = [lambda s: s, _with("m"), _with("n", "m", "k")]
FUNCTIONS = [
    set_again,
    new_and_set_again,
    deleted_twice,
    by_names_from_data,
    set_again_in_a_branch,
    set_by_data,
    set_by_data_on_a_new_object,
]


def _orders(function: Any, kind: type) -> list[Any]:
    """The attributes behind each of several calls: of one object that calls have left, and of others."""
    found, kept = [], kind()
    for change in CHANGES:
        for x in (vec(-1, 1), vec(3, 2)):
            for s in (kept, change(kind())):
                if not hasattr(s, "b"):
                    s.b = 2
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", OnePathWarning)
                    function(s, x)
                found.append((list(vars(s)), list(vars(getattr(s, "new", s)))))
    return found


@pytest.mark.parametrize("kind", [State, Layer])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_eager(function: Any, kind: type) -> None:
    torch._dynamo.reset()
    assert _orders(compiled(function), kind) == _orders(function, kind)


@pytest.mark.parametrize("has", ["", "n", "m"])
def test_of_a_class(has: str) -> None:
    def names(run: Any, x: Tensor) -> list[str]:
        kind = type("Kind", (), {has: 0} if has else {})
        run(kind(), x)
        return [name for name in vars(kind) if len(name) == 1]

    for x in (vec(-1, 1), vec(1, 1)):
        assert names(compiled(set_by_data_on_a_class), x) == names(set_by_data_on_a_class, x)


@pytest.mark.parametrize("function", [set_again, new_and_set_again])
def test_without_this(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile sets attributes again where Python does."""
    leave_out(monkeypatch, attribute_order.attribute_order)
    s, expected = State(), State()
    compiled(function)(s, vec(1, 2))
    function(expected, vec(1, 2))
    assert list(vars(s)) != list(vars(expected))
