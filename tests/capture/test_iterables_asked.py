"""Iterators ask for an iterator, and look at their bounds, when they are made; `index` counts from behind, too."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autograph_torch.capture.iterables_asked import iterables_asked
from tests.harness import check_any_graph, compiled, leave_out, program, torch_before, vec


class Loader:
    """Gives other numbers in every epoch."""

    def __init__(self) -> None:
        self.epoch = 0

    def __iter__(self) -> Iterator[int]:
        self.epoch += 1
        return iter([self.epoch * 10, self.epoch * 10 + 1])


class Bag:
    def __init__(self, values: Any) -> None:
        self.values, self.asked = values, 0

    def __iter__(self) -> Any:
        self.asked += 1
        return iter(self.values)


class Place:
    def __index__(self) -> int:
        return 3


class Mark:
    """Says how often it is asked whether something is equal to it."""

    def __init__(self, value: int) -> None:
        self.value, self.asked = value, 0

    def __eq__(self, other: object) -> bool:
        self.asked += 1
        return isinstance(other, Mark) and other.value == self.value

    __hash__ = None  # type: ignore[assignment]


XS = (lambda: (vec(1, 2),), lambda: (vec(-1, 2),), lambda: (vec(2, -3),))


def with_arguments(*makes: Callable[[], Any]) -> list[Callable[[], Any]]:
    return [lambda x=x, make=make: (x()[0], make()) for x, make in itertools.zip_longest(XS[: len(makes)], makes)]


@program(inputs=[lambda k=k: (vec(1, 2), Loader(), k) for k in (3, 1, 5)])
def cycle_asks_once(x, loader, k):
    rows = itertools.cycle(loader)
    for _ in range(k):
        x = x + next(rows)
    return x, loader.epoch


@program(inputs=with_arguments(*[lambda: Bag([1, 2])] * 3))
def each_asks_when_it_is_made(x, bag):
    rows = [
        enumerate(bag),
        itertools.takewhile(lambda v: v < 9, bag),
        itertools.dropwhile(lambda v: v > 9, bag),
        itertools.starmap(min, bag),
        itertools.islice(bag, 2),
        itertools.pairwise(bag),
        itertools.zip_longest(bag, bag),
        itertools.compress(bag, bag),
        itertools.accumulate(bag),
    ]
    asked, bag.values = bag.asked, []
    if x.sum() > 0:
        x = x + 1
    return x, asked, list(rows[0]), list(rows[1]), list(rows[5]), bag.asked


@program(inputs=with_arguments(lambda: None, lambda: None))
def what_is_no_iterable(x, nothing):
    said = []
    for make in (enumerate, itertools.pairwise, itertools.cycle):
        try:
            make(nothing)
        except TypeError as error:
            said.append(str(error))
    return x, said


@program(inputs=with_arguments(lambda: {1: 2}, lambda: {3: 4}))
def a_dict_that_grows(x, table):
    rows = enumerate(table)
    table[7] = 8
    try:
        return x, list(rows)
    except RuntimeError as error:
        return x, str(error)


@program(inputs=with_arguments(lambda: -1, lambda: 2, lambda: -3))
def bounds_of_a_slice(x, n):
    said = []
    for bounds in ((n,), (0, n), (n, None), (0, 3, n)):
        try:
            said.append(list(itertools.islice([1, 2, 3], *bounds)))
        except ValueError as error:
            said.append(str(error))
    return x, said


@program(inputs=list(XS))
def bounds_that_data_give(x):
    n = int(x[0])
    try:
        return x, list(itertools.islice([1, 2, 3], 0, n))
    except ValueError:
        return x, "bad"


@program(inputs=with_arguments(lambda: -2, lambda: 1, lambda: -9))
def places_from_behind(x, n):
    one, other = x.sum(), x.sum() + 1
    found = [[one, other, one].index(one, n), (4, n, 5, n).index(n, -2)]
    for start, end in ((n, None), (0, -1), (1, n)):
        try:
            found.append([1, 2, 3, 2].index(2, start, 9 if end is None else end))
        except ValueError as error:
            found.append(str(error))
    return x, found


@program(inputs=with_arguments(lambda: True, lambda: False, lambda: 2))
def where_to_begin_to_count(x, first):
    return x, list(enumerate("ab", first)), list(enumerate([x], start=Place()))


NAN = math.nan


@program(inputs=list(XS))
def a_sentinel_that_is_not_equal_to_itself(x):
    rows = iter([1.0, NAN, 2.0])
    return x, list(iter(lambda: next(rows), NAN)), list(rows)


@program(inputs=list(XS))
def the_sentinel_is_asked(x):
    marks, end = [Mark(1), Mark(2), Mark(3)], Mark(2)
    rows = iter(marks)
    if x.sum() > 0:
        x = x + 1
    return x, len(list(iter(lambda: next(rows), end))), end.asked, [mark.asked for mark in marks]


OLDER = torch_before("2.12", "it knows fewer iterators")
PROGRAMS: Any = (
    cycle_asks_once,
    pytest.param(each_asks_when_it_is_made, marks=OLDER, id="each_asks_when_it_is_made"),
    what_is_no_iterable,
    pytest.param(a_dict_that_grows, marks=OLDER, id="a_dict_that_grows"),
    bounds_of_a_slice,
    bounds_that_data_give,
    places_from_behind,
    pytest.param(where_to_begin_to_count, marks=OLDER, id="where_to_begin_to_count"),
    pytest.param(a_sentinel_that_is_not_equal_to_itself, marks=OLDER, id="a_sentinel_that_is_not_equal_to_itself"),
    pytest.param(the_sentinel_is_asked, marks=OLDER, id="the_sentinel_is_asked"),
)


@pytest.mark.parametrize("tested", PROGRAMS, ids=lambda tested: tested.__name__)
def test_as_eager(tested: Callable[..., Any]) -> None:
    check_any_graph(tested)


def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, iterables_asked)
    loader = Loader()
    compiled(lambda x: x + next(itertools.cycle(loader)))(vec(1))
    assert loader.epoch == 2
