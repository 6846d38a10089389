"""Whether numbers and texts from outside are one object, later calls agree on."""

from __future__ import annotations

import operator
from collections import deque
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch.capture import identities
from tests.harness import check_any_graph, compiled, program, torch_before, vec

AUTO = "au to"
NAN = float("nan")
HALF = 1.5
LARGE = 10**20
THOUSAND = 1000


def another(value: Any) -> Any:
    """An equal object."""
    if type(value) is str:
        return "".join(list(value))
    return type(value)(repr(value))


VALUES = (AUTO, HALF, LARGE, THOUSAND, NAN)
GIVEN = [
    lambda value=value, make=make, x=x: (vec(x, 2), make(value), value)
    for value in VALUES
    for make, x in ((another, 1), (lambda one: one, 1), (another, -5))
]


@program(inputs=GIVEN)
def of_arguments(x: Tensor, one: Any, other: Any) -> Any:
    if x.sum() > 0:
        x = x * 2
    return x * 2 if one is other else x


@program(inputs=GIVEN[5::-1])
def by_functions(x: Tensor, one: Any, other: Any) -> Any:
    return x, operator.is_(one, other), list(map(operator.is_not, [one, 1], [other, 2])), str(one) is str(other)


@program(inputs=[lambda one=one: (vec(1, 2), one) for one in (AUTO, another(AUTO), AUTO, "au", "")])
def of_a_global(x: Tensor, mode: str = AUTO) -> Any:
    return x * 2 if mode is AUTO else x


@program(inputs=[lambda one=one: (vec(1, 2), one) for one in ("sum", "mean", another("sum"))])
def of_a_literal(x: Tensor, mode: str) -> Any:
    kind = "sum"
    return x.sum() if mode is kind else x.mean()


def lists(first: float) -> list[Any]:
    """NaN in lists, tuples and dicts, the object of the program's and others."""
    return [
        (vec(x, 2), [one], (1, one), {"a": one}, deque([one]))
        for one, x in ((first, 1), (another(NAN), 1), (NAN, -5), (another(NAN), -5), (1.0, 1))
    ]


@program(inputs=[lambda k=k: lists(NAN)[k] for k in range(5)])
def no_number_in(x: Tensor, row: list[Any], pair: Any, table: Any, queue: Any) -> Any:
    if x.sum() > 0:
        x = x * 2
    places = row.index(NAN) if NAN in row else -1
    return x, places, row.count(NAN), NAN in table.values(), NAN in queue, NAN not in pair


@program(inputs=[lambda k=k: lists(another(NAN))[k] for k in range(4)])
def equal_to(x: Tensor, row: list[Any], pair: Any, table: Any, queue: Any) -> Any:
    equal = row == [NAN], pair == (1, NAN), [pair] == [(1, NAN)], table == {"a": NAN}, queue == deque([NAN])
    return x * 2, equal, row != [NAN], pair <= (1, NAN), row == row, [NAN] == [NAN], ("a", NAN) in table.items()


NO_NUMBERS = [lambda one=one: (vec(1, 2), [one]) for one in (NAN, another(NAN), NAN)]


@program(inputs=NO_NUMBERS)
def only_in(x: Tensor, row: list[float]) -> Any:
    return x * 2, NAN in row


@program(inputs=NO_NUMBERS)
def only_equal(x: Tensor, row: list[float]) -> Any:
    return x * 2, row == [NAN]


class Watch:
    def __init__(self) -> None:
        self.last: Any = None
        self.changes = 0

    def __call__(self, x: Tensor, value: Any) -> Any:
        if value is not self.last:
            self.changes += 1
            self.last = value
        return x * self.changes if x.sum() > 0 else x


SAME = another("c d")
CALLS = [SAME, another("c d"), SAME, SAME, another("c d"), "e"]


@program(inputs=[lambda one=one: (vec(1, 2), one) for one in CALLS], factory=True)
def change_of_an_attribute() -> Any:
    return Watch().__call__


OLDER = torch_before("2.12", "lists compare in another way")
PROGRAMS: Any = (
    of_arguments,
    by_functions,
    of_a_global,
    of_a_literal,
    pytest.param(no_number_in, marks=OLDER, id="no_number_in"),
    pytest.param(equal_to, marks=OLDER, id="equal_to"),
    only_in,
    only_equal,
    change_of_an_attribute,
)


@pytest.mark.parametrize("subject", PROGRAMS, ids=lambda subject: subject.__name__)
def test_as_eager(subject: Any) -> None:
    check_any_graph(subject)


def test_no_trace_without_need() -> None:
    torch._dynamo.utils.counters.clear()
    run = compiled(lambda x, mode: x * 2 if mode is AUTO else x)
    for one in (AUTO, AUTO, another(AUTO), another(AUTO)):
        run(vec(1, 2), one)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 2


def test_torch_asks_whether_they_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, torch does without our repair."""
    monkeypatch.setattr(identities, "is_one_constant", lambda *_: None)
    run = compiled(lambda x, mode: x * 2 if mode is AUTO else x)
    run(vec(1, 2), AUTO)
    assert run(vec(1, 2), another(AUTO)).tolist() == [2, 4]
