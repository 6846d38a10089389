"""Attributes of functions that were there before: set in branches and loops, counted by each call, as in eager."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError
from autograph_torch.capture import function_attributes
from tests.calls_in_turn import differing_calls
from tests.harness import check_any_graph, compiled, integer, leave_out, program, torch_before, vec

THREE = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)]


@program(inputs=THREE, factory=True)
def calls_that_a_helper_counts() -> Callable[[Tensor], Any]:
    def helper(x: Tensor) -> Tensor:
        helper.calls += 1  # type: ignore[attr-defined]
        return x * 2

    def run(x: Tensor) -> Any:
        if x.sum() > 0:
            x = helper(x)
        return helper(x), helper.calls, vars(helper)  # type: ignore[attr-defined]

    helper.calls = 0  # type: ignore[attr-defined]
    return run


@program(inputs=THREE, factory=True)
def calls_that_a_decorator_counts() -> Callable[[Tensor], Any]:
    def counting(function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def counted(*args: Any) -> Any:
            counted.count = getattr(counted, "count", 0) + 1  # type: ignore[attr-defined]
            return function(*args)

        return counted

    @counting
    def helper(x: Tensor) -> Tensor:
        return x + 1

    def run(x: Tensor) -> Any:
        if x.sum() < 0:
            x = helper(x)
        return helper(x), helper.count

    return run


@program(
    inputs=[lambda: (vec(1, 2), integer(2)), lambda: (vec(-1, -2), integer(0)), lambda: (vec(-1, 2), integer(3))],
    factory=True,
)
def set_in_branches_and_loops() -> Callable[..., Any]:
    def helper(x: Tensor) -> Tensor:
        return x

    def run(x: Tensor, n: Tensor) -> Any:
        if x.sum() > 0:
            helper.last = x + 1  # type: ignore[attr-defined]
        for _ in range(n):  # type: ignore[call-overload]
            helper.seen = getattr(helper, "seen", 0) + 1  # type: ignore[attr-defined]
        other = helper
        return hasattr(other, "last"), getattr(other, "seen", None), sorted(vars(helper)), helper

    return run


@pytest.mark.parametrize("found", [calls_that_a_helper_counts, calls_that_a_decorator_counts])
def test_as_eager(found: Any) -> None:
    check_any_graph(found)


@torch_before("2.13", "the dict of a function cannot be followed")
def test_branches_and_loops() -> None:
    check_any_graph(set_in_branches_and_loops)


def noted(x: Tensor) -> Tensor:
    noted.calls += 1  # type: ignore[attr-defined]
    return x + noted.calls  # type: ignore[attr-defined]


def test_a_function_counts_its_own_calls() -> None:
    noted.calls = 3  # type: ignore[attr-defined]
    run = compiled(noted)
    run.calls = 3
    for calls in (4, 5, 6):
        assert torch.equal(run(vec(1)), vec(1) + calls)
        assert noted.calls == calls  # type: ignore[attr-defined]


def made() -> Any:
    def helper(x: Tensor) -> Tensor:
        return x

    helper.v = 0  # type: ignore[attr-defined]
    return helper


def written_by_one_name(x: Tensor, a: Any, b: Any) -> Any:
    a.v = 5
    return x + 1, b.v


def test_two_functions_of_one_code() -> None:
    def one() -> Any:
        helper = made()
        return helper, helper

    def two() -> Any:
        return made(), made()

    assert not differing_calls(lambda: (written_by_one_name, [two, one, two]))
    assert not differing_calls(lambda: (written_by_one_name, [one, two, one]))


class Calling:
    def step(self, x: Tensor) -> Any:
        Calling.step.calls += 1  # type: ignore[attr-defined]
        return x * self.step.calls, self.step.calls  # type: ignore[attr-defined]


def test_a_method_has_what_its_function_has() -> None:
    Calling.step.calls = 1  # type: ignore[attr-defined]
    found = compiled(Calling().step)(vec(1))
    assert found[1] == Calling.step.calls == 2  # type: ignore[attr-defined]
    assert found[0].item() == 2


def test_what_is_deleted_is_refused() -> None:
    def run(x: Tensor) -> Tensor:
        del noted.calls  # type: ignore[attr-defined]
        return x + 1

    noted.calls = 0  # type: ignore[attr-defined]
    with pytest.raises(CaptureError, match="an attribute of a function is deleted that was there before"):
        compiled(run)(vec(1))
    assert noted.calls == 0  # type: ignore[attr-defined]


def test_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile sets attributes of functions."""
    leave_out(monkeypatch, function_attributes.function_attributes)
    noted.calls = 0  # type: ignore[attr-defined]
    with pytest.raises(CaptureError, match="setattr"):
        compiled(noted)(vec(1))
