"""`torch.set_printoptions` in a compiled function: it would count for what is shown behind the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, autograph
from tests.harness import compiled, vec


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    yield
    torch.set_printoptions(profile="default")


def between_prints(x: Tensor) -> Tensor:
    torch.set_printoptions(precision=2)
    print(x / 3)
    torch.set_printoptions(precision=4)
    return x


def in_a_branch(x: Tensor) -> Tensor:
    if x.sum() > 0:
        torch.set_printoptions(precision=2)
    print(x / 3)
    torch.set_printoptions(precision=4)
    return x


def by_profile(x: Tensor) -> Tensor:
    print(x / 3)
    torch.set_printoptions(profile="short", sci_mode=True)
    return x


@pytest.mark.parametrize("function", [between_prints, in_a_branch, by_profile])
@pytest.mark.parametrize("way", [compiled, autograph])
def test_it_is_refused(function: Callable[..., Any], way: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match=r"AG324 `torch\.set_printoptions` in a compiled function"):
        way(function)(vec(1, 2))


@pytest.mark.parametrize("way", [compiled, autograph])
def test_those_around_it_count(way: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    def shows(x: Tensor) -> Tensor:
        print(x / 3)
        return x

    run = way(shows)
    for precision in (2, 6):
        torch.set_printoptions(precision=precision)
        run(vec(1, 2))
        shown = capsys.readouterr().out
        shows(vec(1, 2))
        assert shown == capsys.readouterr().out
