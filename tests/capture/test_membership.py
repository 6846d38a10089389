"""`v in values` of what is no constant gives the bool that eager gives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import convert
from autograph_torch.capture import compiling, membership
from tests.harness import vec

INPUTS = [vec(1.5, 2, -3), vec(-1.5, 2, 3), vec(float("nan"), 2, 3), vec(1, 1, 1)]


def of_tensors(x: Tensor) -> Any:
    rows = list(x)
    return x[2] in rows, x[1] * 1 in rows, x[0] not in (x[1], x[2]), 2.0 in rows, 2.5 not in rows, x[0] in ["a", None]


def of_numbers(x: Tensor) -> Any:
    values, whole = x.tolist(), [int(v) for v in x[1:]]
    v = values[0]
    return 2.0 in values, 2 in whole, 3 not in tuple(whole), v in [v], v in (1.5, values[1]), [1.0, 2.0].__contains__(v)


def of_other_kinds(x: Tensor) -> Any:
    last = deque(x, maxlen=2)
    pairs = [(1, 2.0), (2, 3.0)]
    return (
        2.0 in last,
        (1, x[1].item()) in pairs,
        None in [x[0], None],
        "a" in ["b", x[0].item()],
    )


def as_a_test(x: Tensor) -> Tensor:
    rows = list(x)
    if 2.0 in rows and x[0] not in rows[1:]:
        return x + 1
    return x


@pytest.mark.parametrize("function", [of_tensors, of_numbers, of_other_kinds, as_a_test])
def test_what_is_in_a_list(function: Callable[[Tensor], Any]) -> None:
    found = torch.compile(convert(function), backend="eager", fullgraph=True)
    for x in INPUTS:
        expected, actual = function(x), found(x)
        if isinstance(expected, Tensor):
            assert repr(actual) == repr(expected)
        else:
            assert actual == expected and set(map(type, actual)) == {bool}, x


def of_arguments(x: Tensor, n: int) -> Any:
    return 4 in [n, n + 1], n in [3, 5], n not in (3, 5), x + n


def test_numbers_that_change_between_calls() -> None:
    found = torch.compile(convert(of_arguments), backend="eager", fullgraph=True)
    for n in (3, 4, 5):
        assert found(torch.ones(1), n)[:3] == of_arguments(torch.ones(1), n)[:3]


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    others = tuple(repair for repair in compiling._REPAIRS if repair is not membership.membership)
    monkeypatch.setattr(compiling, "_REPAIRS", others)
    found = torch.compile(convert(of_arguments), backend="eager", fullgraph=True)
    answers = [found(torch.ones(1), n)[0] for n in (3, 4)]
    assert answers != [True, True]


def in_items(x: Tensor, given: Any) -> Any:
    items, rows = given.items(), {"a": x[0], "b": 2.0, "c": x[1].item()}
    found = [("c", 1) in items, ("a", x[0]) in items, ("a", x[1].item()) not in items, (("a", x[0]) in rows.items())]
    found += [("a", x[0] * 1) in rows.items(), ("b", x[1]) in rows.items(), ("c", 2) in rows.items()]
    found += ["a" in rows.items(), ("a",) in items, ("z", x) in rows.items()]
    return found, rows.items() <= {**rows, "d": 1}.items()


def without_a_key(x: Tensor, given: Any) -> Any:
    return ("c", 1) in given.items(), x.sum()


@pytest.mark.parametrize("function", [in_items, without_a_key])
def test_what_is_in_the_items_of_a_dict(function: Callable[..., Any]) -> None:
    found = torch.compile(convert(function), backend="eager", fullgraph=True)
    for x in INPUTS:
        for given in ({"a": 1.5}, {"c": 1, "a": 2}, {"a": torch.ones(()), "c": 2}, {}):
            assert repr(found(x, dict(given))) == repr(function(x, dict(given)))
