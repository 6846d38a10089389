"""The truth of objects: `if d:` of dicts and lists of the program's own classes, which torch 2.11 takes for true."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import autograph


class Names(dict[str, int]):
    pass


class Rows(list[int]):
    pass


class Empty:
    def __len__(self) -> int:
        return 0


class Off:
    def __bool__(self) -> bool:
        return False

    def __len__(self) -> int:
        return 3


class Plain:
    pass


MAKERS: dict[str, Callable[[], Any]] = {
    "an empty Counter": Counter,
    "a Counter": lambda: Counter("ab"),
    "an empty dict of a class": Names,
    "a dict of a class": lambda: Names(a=1),
    "an empty list of a class": Rows,
    "a defaultdict": lambda: defaultdict(int),
    "an OrderedDict": OrderedDict,
    "a deque": deque,
    "no length": Empty,
    "no truth": Off,
    "neither": Plain,
}


@pytest.mark.parametrize("name", MAKERS)
def test_truth_of_objects(name: str) -> None:
    make = MAKERS[name]

    def asked(x: Tensor) -> tuple[Any, ...]:
        thing = make()
        found = []
        if thing:
            found.append("if")
        if not thing:
            found.append("if not")
        while thing:
            found.append("while")
            break
        either = "one" if thing else "other"
        both = thing and 5
        if x.sum() > 0:
            x = x + 1
        return x, found, either, bool(thing), type(both).__name__

    expected, given = asked(torch.ones(2)), autograph(asked, backend="eager")(torch.ones(2))
    assert given[1:] == expected[1:]
    assert given[0].equal(expected[0])
