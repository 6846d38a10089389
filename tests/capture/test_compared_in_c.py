"""What C code says of dates, Decimals, bytearrays and the like is asked by every call."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, convert
from autograph_torch.capture import compared_in_c
from tests.harness import check_any_graph, leave_out, program, torch_before, vec

pytestmark = torch_before("2.12", "such comparisons are refused there")

DAYS = [datetime.date(year, 1, 1) for year in (2020, 2021, 2022)]
EARLY, MIDDLE, LATE = DAYS
NOON, WEEK = datetime.time(12), datetime.timedelta(7)
ONE, NAN = decimal.Decimal(1), decimal.Decimal("nan")


def given(*others: Any) -> list[Callable[[], tuple[Any, ...]]]:
    return [lambda other=other: (vec(1, 2), other) for other in others]


OF_DAYS = given(*(datetime.date(year, 1, 1) for year in (2020, 2021, 2022, 2020)))


@program(inputs=OF_DAYS)
def days_compared(x: Tensor, day: datetime.date) -> Any:
    passed = 0
    for other in DAYS:
        if other <= day:
            passed += 1
    if x.sum() > 0:
        x = x + passed
    orders = day < MIDDLE, MIDDLE >= day, day.__gt__(MIDDLE), (day, 1) < (MIDDLE, 2), [day] == [MIDDLE]
    return x, day == EARLY, day != EARLY, day == 3, day == x.sum().item(), orders


@program(inputs=OF_DAYS)
def days_found(x: Tensor, day: datetime.date) -> Any:
    table = {EARLY: 1, (MIDDLE, 1): 2}
    members = {EARLY, MIDDLE}
    members.add(day)
    found = day in (EARLY, MIDDLE), DAYS.index(day), [day, LATE].count(LATE), day in {EARLY}
    return x, found, table.get(day), table.get((day, 1)), len(members), hash(day), frozenset([day]) == {LATE}


@program(inputs=given(*(datetime.date(year, 1, 1) for year in (2022, 2020, 2021))))
def days_as_keys(x: Tensor, day: datetime.date) -> Any:
    return x, {EARLY: 1}.get(day), len({MIDDLE, day}), hash(day)


@program(inputs=given(*(datetime.date(year, 1, 1) for year in (2020, 2020, 2021, 2021))))
class CountOfADay:
    def __init__(self) -> None:
        self.last, self.n = EARLY, 0

    def __call__(self, x: Tensor, day: datetime.date) -> Any:
        if day != self.last:
            self.n = 0
            self.last = day
        self.n += 1
        return x * self.n


@program(inputs=given(datetime.time(8), datetime.time(20), datetime.time(12)))
def times(x: Tensor, time: datetime.time) -> Any:
    return x * 2 if time < NOON else x, time == NOON


@program(inputs=given(*map(datetime.timedelta, (1, 8, 7))))
def spans(x: Tensor, span: datetime.timedelta) -> Any:
    return x * 2 if span > WEEK else x, span == WEEK


@program(inputs=given(*map(bytearray, (b"a", b"b"))))
def bytes_compared(x: Tensor, data: bytearray) -> Any:
    return x, data == b"a", data != b"b", data < b"b"


@program(inputs=given(*map(memoryview, (b"a", b"b"))))
def memory_compared(x: Tensor, data: memoryview) -> Any:
    return x, data == b"a", data in [b"a"]


@program(inputs=given(ONE, decimal.Decimal("1.00"), decimal.Decimal(2), NAN, decimal.Decimal("nan"), ONE))
def decimals(x: Tensor, price: decimal.Decimal) -> Any:
    equal = price == 1, 1 == price, price == NAN, price in [NAN], price in (1,), 1 in (price,), 1 in {price}
    return x, equal, {1: "one"}.get(price), price > ONE if price == price else None


class Owner:
    pass


OWNERS = [Owner(), Owner()]


@program(inputs=given(*OWNERS, OWNERS[0]))
def hash_of_an_object(x: Tensor, owner: Owner) -> Any:
    return x, hash(owner) == hash(OWNERS[0])


SUBJECTS = [
    days_compared,
    days_found,
    days_as_keys,
    CountOfADay,
    times,
    spans,
    bytes_compared,
    memory_compared,
    decimals,
    hash_of_an_object,
]


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.__name__)
def test_every_call_asks(subject: Any) -> None:
    check_any_graph(subject)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.__name__)
def test_torch_needs_it(subject: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, compared_in_c.compared_in_c)
    torch._dynamo.reset()
    with pytest.raises(AssertionError):
        check_any_graph(subject)


def test_one_answer_is_one_trace() -> None:
    def later(x: Tensor, day: datetime.date) -> Tensor:
        return x * 2 if day > MIDDLE else x

    traces = []

    def backend(graph: Any, inputs: Any) -> Any:
        traces.append(graph)
        return graph

    compiled = torch.compile(convert(later), backend=backend)
    for month in range(1, 13):
        assert compiled(vec(1, 2), datetime.date(2022, month, 2)).tolist() == [2, 4]
    assert compiled(vec(1, 2), EARLY).tolist() == [1, 2]
    assert len(traces) == 1  # the other one computes nothing


def with_data(x: Tensor) -> bool:
    return ONE == x.sum().item()


def in_two_zones(x: Tensor) -> bool:
    return IN_NO_ZONE < IN_UTC


IN_NO_ZONE = datetime.datetime(2020, 1, 1)
IN_UTC = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)


@pytest.mark.parametrize(
    ("refused", "why"),
    [(with_data, "`Decimal` is compared, and data tell"), (in_two_zones, "`datetime` is compared, which raises")],
)
def test_refused(refused: Any, why: str) -> None:
    with pytest.raises(CaptureError, match=f"AG320 an object of type {why}"):
        torch.compile(convert(refused), backend="eager", fullgraph=True)(vec(1, 2))
