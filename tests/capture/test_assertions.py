"""Assertions that ask no data, and what is raised with them.

PYTEST_DONT_REWRITE: the assertions below are to be Python's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import convert


class Sized:
    def __init__(self, size: int) -> None:
        self.size, self.made = size, 0

    def __len__(self) -> int:
        return self.size

    def text(self, x: Tensor) -> str:
        self.made += 1
        return f"#{self.made} {x.sum().item():.1f}"


def with_objects(x: Tensor, given: Any) -> None:
    assert given.size == 2, (given.size, x * 2)


def with_texts_made_for_it(x: Tensor, given: Any) -> None:
    assert given.size == 2, given.text(x)


def with_constants(x: Tensor, given: Any) -> None:
    assert x.ndim == 1, "not reached"
    assert x.shape[0] == 3, "of three"


def with_nothing(x: Tensor, given: Any) -> None:
    assert given.size == 2


def of_objects(x: Tensor, given: Any) -> None:
    assert not given, "it has a length"


def with_data(x: Tensor, given: Any) -> None:
    assert given.size == 2, x[0].item()


def raised(x: Tensor, given: Any) -> None:
    if given.size != 2:
        raise AssertionError(given.size, None)


FUNCTIONS = [with_objects, with_texts_made_for_it, with_constants, with_nothing, of_objects, with_data, raised]


def outcome(run: Callable[..., Any], size: int, x: Tensor) -> str:
    given = Sized(size)
    try:
        found = run(x, given)
    except AssertionError as error:
        found = error.args
    return repr((found, given.made))


@pytest.mark.parametrize("check", FUNCTIONS)
@pytest.mark.parametrize("handles", [True, False])
def test_what_an_assertion_raises(check: Callable[..., Any], handles: bool) -> None:
    def program(x: Tensor, given: Any) -> Any:
        if x.sum() > 0:
            x = x + 1
        if not handles:
            check(x, given)
            return x
        try:
            check(x, given)
        except AssertionError as error:
            return error.args, x
        return x

    def in_a_branch(x: Tensor, given: Any) -> Any:
        if x.sum() > 0:
            check(x, given)
            x = x + 1
        return x

    for function in (program, in_a_branch):
        fast = torch.compile(convert(function), backend="eager", fullgraph=True)
        for size in (3, 2, 3):
            for x in (torch.tensor([1.0, 2.0]), torch.tensor([1.0, -2.0])):
                assert outcome(fast, size, x) == outcome(function, size, x)
