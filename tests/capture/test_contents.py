"""What leads to a list or dict besides the name that a body writes to finds what was written; for every method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import convert

Write = Callable[[Any, torch.Tensor], Any]


def put(xs: list[Any], x: torch.Tensor) -> None:
    xs[0] = x * 5


def put_slice(xs: list[Any], x: torch.Tensor) -> None:
    xs[:1] = [x, x]


def add_in_place(xs: list[Any], x: torch.Tensor) -> None:
    xs += [x]


def delete(xs: Any, x: torch.Tensor) -> None:
    del xs[1]


def put_key(d: dict[Any, Any], x: torch.Tensor) -> None:
    d[1] = x * 5


LISTS: dict[str, Write] = {
    "append": lambda xs, x: xs.append(x),
    "extend": lambda xs, x: xs.extend([x, x]),
    "insert": lambda xs, x: xs.insert(0, x),
    "pop": lambda xs, x: xs.pop(),
    "remove by clear": lambda xs, x: xs.clear(),
    "reverse": lambda xs, x: xs.reverse(),
    "item": put,
    "slice": put_slice,
    "in place": add_in_place,
    "del": delete,
}
DICTS: dict[str, Write] = {
    "key": put_key,
    "update": lambda d, x: d.update({1: x, 7: x}),
    "pop": lambda d, x: d.pop(1),
    "clear": lambda d, x: d.clear(),
    "setdefault": lambda d, x: d.setdefault(9, x),
    "del": delete,
}


def agree(program: Callable[[torch.Tensor], Any]) -> None:
    compiled = torch.compile(convert(program), backend="eager", fullgraph=True)
    for value in (1.0, -1.0):
        x = torch.full((2,), value)
        torch.testing.assert_close(compiled(x), program(x), rtol=0, atol=0)


@pytest.mark.parametrize("name", LISTS)
def test_list(name: str) -> None:
    write = LISTS[name]

    def program(x: torch.Tensor) -> torch.Tensor:
        xs = [x, x + 1, x + 2]
        total = lambda: sum(xs) + len(xs)  # noqa: E731
        if x.sum() > 0:
            xs.append(x)  # shows that the branch writes to the list
            write(xs, x)
            y = total() + x
        else:
            xs.append(x)
            write(xs, x)
            y = total() * x
        return y

    agree(program)


@pytest.mark.parametrize("name", DICTS)
def test_dict(name: str) -> None:
    write = DICTS[name]

    def program(x: torch.Tensor) -> torch.Tensor:
        d = {0: x, 1: x + 1}
        total = lambda: sum(d.values()) + len(d)  # noqa: E731
        if x.sum() > 0:
            d[3] = x
            write(d, x)
            y = total() + x
        else:
            d[3] = x
            write(d, x)
            y = total() * x
        return y

    agree(program)
