"""Partials of partials, attributes of functions, and the dicts of classes: as eager, or refused."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from torch import Tensor

from autograph_torch import CaptureError
from autograph_torch.capture import functions_given
from tests.harness import check, check_any_graph, compiled, leave_out, program, vec

TWO = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)]


def line(x: Tensor, a: float = 1, b: float = 1) -> Tensor:
    return x * a + b


@program(inputs=TWO)
def partials_of_partials(x: Tensor) -> Any:
    first = functools.partial(line, a=2)
    if x.sum() > 0:
        first = functools.partial(first, b=3)
    second = functools.partial(functools.partial(line, x), 5, a=3) if x.sum() > 9 else functools.partial(first, x, a=4)
    return first(x), first.func is line, first.keywords, second(), second.func is line, len(second.args)


@program(inputs=TWO, factory=True)
def an_attribute_that_a_call_sets() -> Callable[[Tensor], Any]:
    def helper(x: Tensor) -> Tensor:
        return x

    def run(x: Tensor) -> Any:
        before = getattr(helper, "last", ()), hasattr(helper, "last")
        if x.sum() < 0:
            helper.last = 3  # type: ignore[attr-defined]
        return x * 2, before, getattr(helper, "last", ()), hasattr(helper, "last")

    return run


@program(inputs=TWO)
def partials_of_no_callable(x: Tensor) -> Any:
    part = x.abs() if x.sum() > 0 else x
    return functools.partial(part, 2).args  # type: ignore[arg-type]


PROGRAMS = [partials_of_no_callable, partials_of_partials, an_attribute_that_a_call_sets]


@pytest.mark.parametrize("found", PROGRAMS, ids=lambda one: one.__name__)
def test_as_eager(found: Any) -> None:
    check_any_graph(found)


def test_an_attribute_that_somebody_sets() -> None:
    def helper(x: Tensor) -> Tensor:
        return x

    def run(x: Tensor) -> Any:
        return x + 1, getattr(helper, "last", ()), hasattr(helper, "last")

    run_compiled = compiled(run)
    assert run_compiled(vec(1))[1:] == ((), False)
    helper.last = 3  # type: ignore[attr-defined]
    assert run_compiled(vec(1))[1:] == (3, True)
    del helper.last  # type: ignore[attr-defined]
    assert run_compiled(vec(1))[1:] == ((), False)


def test_the_attributes_of_a_class_behind_a_write_to_one() -> None:
    class Counted:
        made = 0

    def run(x: Tensor) -> Any:
        Counted.made += 1
        Counted.new = 2  # type: ignore[attr-defined]
        return x, "new" in vars(Counted)

    with pytest.raises(CaptureError, match="the attributes of a class are asked for together"):
        compiled(run)(vec(1))


def test_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile makes one partial of two."""
    leave_out(monkeypatch, functions_given.functions_given)
    assert check(partials_of_partials.__program__, "any graph").kind == "wrong"  # type: ignore[attr-defined]
