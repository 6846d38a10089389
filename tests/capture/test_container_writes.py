"""A list or dict that only a called function shows to be written to: for every method that writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.capture.test_contents import DICTS, LISTS, agree

LENGTH_KEEPS = ("reverse", "item")


@pytest.mark.parametrize("name", LISTS)
def test_list_of_a_branch(name: str) -> None:
    write = LISTS[name]

    def program(x: torch.Tensor) -> Any:
        xs = [x, x + 1, x + 2]
        same = xs
        if x.sum() > 0:
            write(xs, x)
            y = x + sum(same) + len(same)
        else:
            y = x
            write(same, x)
        return y, xs, same

    agree(program)


@pytest.mark.parametrize("name", DICTS)
def test_dict_of_a_branch(name: str) -> None:
    write = DICTS[name]

    def program(x: torch.Tensor) -> Any:
        d = {0: x, 1: x + 1}
        same = d
        if x.sum() > 0:
            write(d, x)
            y = x + sum(same.values()) + len(same)
        else:
            y = x
            write(same, x)
        return y, d, same

    agree(program)


@pytest.mark.parametrize("name", LENGTH_KEEPS)
def test_list_of_a_loop(name: str) -> None:
    write = LISTS[name]

    def program(x: torch.Tensor) -> Any:
        xs = [x, x + 1, x + 2]
        same = xs
        while x.norm() > 0.5:
            write(xs, x)
            x = x / 2 + same[0] * 0
        return x, xs, same

    agree(program)


@pytest.mark.parametrize("name", LENGTH_KEEPS)
def test_what_one_branch_writes_the_other_does_not_see(name: str) -> None:
    """Dynamo traces one after the other, and the contents are put back between."""
    write = LISTS[name]

    def program(x: torch.Tensor) -> Any:
        xs = [x, x + 1, x + 2]
        read: Callable[[], torch.Tensor] = lambda: xs[0] * 1  # noqa: E731
        if x.sum() > 0:
            write(xs, x)
            y = read()
        else:
            y = read() * 3
        return y, read()

    agree(program)
