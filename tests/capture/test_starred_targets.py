"""`a, *rest = it`: an iterator of the program's is asked for its iterator once more, for the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from torch import Tensor

from autograph_torch.capture.starred_targets import starred_targets
from tests.harness import compiled, leave_out, torch_before, vec

pytestmark = torch_before("2.13", "it has no such function of its own")


class Counter:
    """Begins anew whenever it is asked for its iterator."""

    def __init__(self, most: int = 3) -> None:
        self.n, self.most, self.asked = 0, most, 0

    def __iter__(self) -> Counter:
        self.n = 0
        self.asked += 1
        return self

    def __next__(self) -> int:
        self.n += 1
        if self.n > self.most:
            raise StopIteration
        return self.n


class Once(Counter):
    def __iter__(self) -> Counter:
        self.asked += 1
        return self


class Generated:
    def __iter__(self) -> Any:
        yield from (1, 2, 3, 4)


def behind_one(one: Any, x: Tensor) -> Any:
    first, *rest = one
    return x * first, rest, getattr(one, "asked", 0)


def behind_two(one: Any, x: Tensor) -> Any:
    first, second, *rest = one
    return x * first, second, rest, getattr(one, "asked", 0)


def before_and_behind(one: Any, x: Tensor) -> Any:
    first, *rest, last = one
    return x * first, rest, last, getattr(one, "asked", 0)


def before(one: Any, x: Tensor) -> Any:
    *rest, last = one
    return x * last, rest, getattr(one, "asked", 0)


FUNCTIONS = [behind_one, behind_two, before_and_behind, before]


@pytest.mark.parametrize("make", [Counter, Once, Generated], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_as_python_takes_it_apart(function: Callable[..., Any], make: Callable[[], Any]) -> None:
    assert str(compiled(function)(make(), vec(1))) == str(function(make(), vec(1)))


def too_few(one: Any, x: Tensor) -> Any:
    try:
        first, second, *rest = one
    except ValueError as error:
        return str(error), one.asked
    return x * first, second, rest


@pytest.mark.parametrize("kind", [Counter, Once])
@pytest.mark.parametrize("most", [0, 1, 2])
def test_where_there_are_too_few(kind: Any, most: int) -> None:
    assert str(compiled(too_few)(kind(most), vec(1))) == str(too_few(kind(most), vec(1)))


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert behind_one(Counter(), vec(1))[1] == [1, 2, 3]
    leave_out(monkeypatch, starred_targets)
    assert compiled(behind_one)(Counter(), vec(1))[1] == [2, 3], "remove autograph_torch/capture/starred_targets.py"
