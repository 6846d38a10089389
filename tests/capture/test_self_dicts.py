"""Dicts with `self.__dict__ = self`: their attributes are their items."""

from __future__ import annotations

from typing import Any

import pytest
from torch import Tensor

from autograph_torch.capture import self_dicts
from tests.harness import check, check_any_graph, leave_out, program, vec

TWO = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]


class Config(dict):  # type: ignore[type-arg]
    limit = 4

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self.__dict__ = self

    def doubled(self) -> Any:
        return self.rate * 2

    @property
    def half(self) -> Any:
        return self.rate / 2


@program(inputs=TWO)
def made(x: Tensor) -> Any:
    c = Config(rate=1, x=x)
    if x.sum() > 0:
        c.rate = 2
        c["more"] = 5
    return c.rate, c["rate"], c.get("more"), dict(c), len(c), c.x, c.limit


@program(inputs=[lambda: (Config(rate=1), vec(1, 2)), lambda: (Config(rate=1), vec(-1, -2))])
def given(c: Any, x: Tensor) -> Any:
    if x.sum() > 0:
        c.rate = 2
    else:
        c["rate"] = 3
    c.x = x
    return c.rate, c["rate"], list(c), c.doubled(), c.half, vars(c) is c


@program(inputs=TWO)
def deleted(x: Tensor) -> Any:
    c = Config(rate=1, old=2)
    del c.old
    if x.sum() > 0:
        c.rate += 1
    return "old" in c, hasattr(c, "old"), getattr(c, "limit", 0), c.pop("rate"), hasattr(c, "rate")


@program(inputs=TWO)
def a_name_that_it_does_not_have(x: Tensor) -> Any:
    c = Config(rate=1)
    if x.sum() > 0:
        return c.other
    return c.rate


@program(inputs=TWO)
def state_of_a_loop(x: Tensor) -> Any:
    c = Config(step=1.0, trips=0)
    while c.step * x.abs().sum() > 0.5:
        c.step = c.step / 2
        c["trips"] += 1
    return c.step, c.trips


PROGRAMS = [made, given, deleted, a_name_that_it_does_not_have, state_of_a_loop]


@pytest.mark.parametrize("found", PROGRAMS, ids=lambda one: one.__name__)
def test_as_eager(found: Any) -> None:
    check_any_graph(found)


def test_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile knows them."""
    leave_out(monkeypatch, self_dicts.self_dicts)
    assert check(made.__program__, "any graph").kind != "equal"  # type: ignore[attr-defined]
