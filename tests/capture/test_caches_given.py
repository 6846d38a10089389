"""Cached functions from outside give what their caches hold, and are called once for each answer."""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, autograph, convert
from autograph_torch.capture import caches_given
from tests.harness import leave_out, vec

LOG: list[Any] = []
X = vec(1.0, 2.0)


class Settings:
    def __init__(self, scale: int) -> None:
        self.scale = scale


@functools.lru_cache
def loud(n: int, *, by: int = 2) -> int:
    print("computing", n)
    LOG.append(n)
    return n * by


@functools.cache
def settings(scale: int) -> Settings:
    return Settings(scale)


@functools.lru_cache(maxsize=None, typed=True)
def listed(n: float) -> list[float]:
    return [n]


@functools.lru_cache(maxsize=2)
def table(n: int) -> Tensor:
    return torch.arange(float(n))


@functools.lru_cache
def fibonacci(n: int) -> int:
    LOG.append(n)
    return 1 if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


class Halving:
    @functools.lru_cache  # noqa: B019
    def half(self, n: int) -> float:
        LOG.append("half")
        return n / 2


HALVING = Halving()
CACHED = (loud, settings, listed, table, fibonacci, Halving.half)


def at_the_top(x: Tensor) -> Any:
    n = loud(2) + loud(2) + loud(2, by=3) + loud(n=3)
    return (x * n if x.sum() > 0 else x), len(LOG)


def in_a_branch(x: Tensor) -> Any:
    return (x * loud(2) * loud(2) if x.sum() > 0 else x * loud(5)), len(LOG)


def one_object(x: Tensor) -> Any:
    if x.sum() > 0:
        settings(3).scale += 1
    return x * settings(3).scale, settings(3) is settings(3), settings(3) is settings(4)


def one_list(x: Tensor) -> Any:
    listed(1).append(2.0)
    return x * len(listed(1)) if x.sum() > 0 else x, len(listed(1.0))


def one_tensor(x: Tensor) -> Any:
    if x.sum() > 0:
        table(2).add_(1)
    return x + table(2), table(2) is table(2)


def behind_a_print(x: Tensor) -> Any:
    print("first")
    return x * loud(7) if x.sum() > 0 else x


def recursive(x: Tensor) -> Any:
    return x * fibonacci(6) if x.sum() > 0 else x, list(LOG)


def of_an_object(x: Tensor) -> Any:
    return x * HALVING.half(3) * HALVING.half(3), len(LOG)


def by_data(x: Tensor) -> Any:
    n = int(x[0])
    scale = loud(n) + loud(n)
    return x * scale if x.sum() > 0 else x - scale, list(LOG)


ALL = [at_the_top, behind_a_print, in_a_branch, one_object, one_list, one_tensor, recursive, of_an_object, by_data]


def _played(function: Callable[[Tensor], Any]) -> list[Any]:
    """What calls give, print and leave behind; before the last one the caches are emptied."""
    LOG.clear()
    for one in CACHED:
        one.cache_clear()
    played = []
    for x in (X, -X, X, X * 3, X):
        printed = io.StringIO()
        if len(played) == 4:
            for one in CACHED:
                one.cache_clear()
        with contextlib.redirect_stdout(printed):
            given = str(function(x))
        played.append((given, printed.getvalue(), str(LOG)))
    return played


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize("function", ALL)
def test_a_cached_function_is_called_once_for_an_answer(function: Callable[[Tensor], Any]) -> None:
    torch._dynamo.reset()
    expected = _played(function)
    assert _played(autograph(function, backend="eager")) == expected


@pytest.mark.parametrize("function", [at_the_top, one_list, of_an_object])
def test_at_the_top_so_it_is_by_torch_compile(function: Callable[[Tensor], Any]) -> None:
    torch._dynamo.reset()
    expected = _played(function)
    assert _played(torch.compile(convert(function), backend="eager", fullgraph=True)) == expected


@pytest.mark.parametrize("function", [in_a_branch, at_the_top, one_object, one_list])
def test_torch_needs_it(function: Callable[[Tensor], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, caches_given.caches_given)
    expected = _played(function)
    assert _played(autograph(function, backend="eager")) != expected


def test_by_torch_compile_it_does_not_print_too_early() -> None:
    def run(x: Tensor) -> Any:
        print("first")
        return x * loud(8)

    for one in CACHED:
        one.cache_clear()
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match="AG320 .*and changes something"):
        torch.compile(convert(run), backend="eager", fullgraph=True)(X)


def test_what_is_refused() -> None:
    def of_a_tensor(x: Tensor) -> Any:
        return settings(X) if x.sum() > 0 else 1  # type: ignore[arg-type]

    for one in CACHED:
        one.cache_clear()

    def noting_in_a_branch(x: Tensor) -> Any:
        return x * fibonacci(1) if x.sum() > 0 else x

    def with_one_tensor_twice(x: Tensor) -> Any:
        total = x.sum()
        return settings(total).scale + settings(total).scale  # type: ignore[arg-type]

    changes = "and changes something"
    for function, said in (
        (in_a_branch, changes),
        (noting_in_a_branch, changes),
        (with_one_tensor_twice, "called twice"),
        (of_a_tensor, "a tensor from outside"),
    ):
        torch._dynamo.reset()
        with pytest.raises(CaptureError, match=f"AG320 .*{said}"):
            torch.compile(convert(function), backend="eager", fullgraph=True)(X)
