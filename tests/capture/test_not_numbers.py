"""Algebra decides nothing about floats that depend on data: they may be NaN or infinite."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from autograph_torch import convert
from tests.harness import check, difference
from tests.programs import not_numbers as programs

NAN, INF = float("nan"), float("inf")
INPUTS = [torch.tensor([one, 1.0, 2.0]) for one in (1.0, 0.0, NAN, INF, -INF)]


def compared_with_itself(x: torch.Tensor) -> Any:
    s = x[0].item()
    equal, unequal, ordered = [1 if p else 2 for p in (s == s, s != s, s <= s)]
    return equal, unequal, ordered, 1 if s < s else 2, 1 if not s >= s else 2


def known_by_its_range(x: torch.Tensor) -> Any:
    s = x[0].item()
    return 1 if s * s >= 0 else 2, 1 if abs(s) < 0 else 2


def cancelled_out(x: torch.Tensor) -> Any:
    s = x[0].item()
    t = s
    t -= s
    return 1 if s - s == 0 else 2, 1 if s * 0 == 0 else 2, 1 if t else 2, 1 if s + 1 - s == 1 else 2


def with_infinity(x: torch.Tensor) -> Any:
    s, n = x.sum().item(), int(x[0].isfinite())
    found = [s < INF, s <= INF, s == INF, s != -INF, INF > s, n < INF, -INF >= n, s > NAN, n != NAN]
    return found, INF - s, s + INF, s * -INF, n - INF, abs(INF - s) < 1, s / INF, 1 if s < INF else 2


def raises_what_python_raises(x: torch.Tensor) -> Any:
    s = x[0].item()
    return 1 if s / s == 1 else 2


@pytest.mark.parametrize("backend", ["eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("function", [compared_with_itself, known_by_its_range, cancelled_out, with_infinity])
def test_a_test_is_what_python_makes_of_it(function: Any, backend: str) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend=backend)
    for x in INPUTS:
        assert not difference(function(x), compiled(x), "result")


def test_a_number_divided_by_itself() -> None:
    compiled = torch.compile(convert(raises_what_python_raises), fullgraph=True, backend="eager")
    for x in INPUTS:
        if x[0] == 0:
            with pytest.raises(ZeroDivisionError):
                compiled(x)
        else:
            assert raises_what_python_raises(x) == compiled(x)


@pytest.mark.parametrize("subject", [programs.an_integer_that_no_float_is, programs.integers_beside_their_floats])
def test_large_integers_have_no_floats(subject: Any) -> None:
    verdict = check(subject.__program__, "eager")
    assert verdict.kind == "equal", verdict.reason
