"""What an iterator raises comes at its trip: not before the first, and not where eager stops before it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.harness import check_any_graph, program, vec

PAIRS = [lambda row=row: (vec(*row), vec(1, 2, 3)) for row in ((-1, 2), (1, 2), (1, -2))]
ROWS = [lambda row=row: (vec(*row),) for row in ((0, 2, 3), (1, 1, 3), (-1, -2, -3))]


@program(inputs=PAIRS)
def strict_zip_of_rows(x, y):
    n = 0
    try:
        for a, _ in zip(x, y, strict=True):
            if a < 0:
                break
            n += 1
    except ValueError:
        return "bad", n
    return "good", n


@program(inputs=PAIRS)
def strict_zip_of_rows_without_a_handler(x, y):
    n = 0
    for a, _ in zip(x, y, strict=True):
        if a < 0:
            return n
        n += 1
    return -1


@program(inputs=PAIRS)
def strict_zip_of_lists(x, y):
    n = 0
    try:
        for _ in zip([1, 2], [1, 2, 3], strict=True):
            if x[n] < 0:
                break
            n += 1
    except ValueError:
        return "bad", n
    return "good", n, y


@program(inputs=PAIRS)
def strict_zip_that_is_made_before(x, y):
    try:
        pairs = zip(x, y, strict=True)
    except ValueError:
        return "early", 0
    n = 0
    try:
        for k, (a, _) in enumerate(pairs):
            if a < 0:
                break
            n += k
    except ValueError:
        return "bad", n
    return "good", n


@program(inputs=PAIRS)
def any_of_a_strict_zip(x, y):
    try:
        return any(b > 1 - a for a, b in zip(x, y, strict=True))
    except ValueError:
        return "bad"


def two_and_no_more() -> Iterator[int]:
    yield 1
    yield 2
    raise KeyError("end")


@program(inputs=PAIRS)
def generator_that_raises(x, y):
    n = 0
    try:
        for a in two_and_no_more():
            if x[0] < a - 1:
                break
            n += a
    except KeyError:
        return "bad", n
    return "good", n, y


@program(inputs=ROWS)
def division_in_an_iterator(x):
    n = 0
    try:
        for a in map(lambda k: 10 // k, [2, 1, 0]):
            if x[0] < 0:
                break
            n += a
    except ZeroDivisionError:
        return "bad", n
    return "good", n


@program(inputs=ROWS)
def any_of_quotients(x):
    try:
        return any(v > 1 / k for k, v in zip([1, 2, 0], x, strict=True))
    except ZeroDivisionError:
        return "zero"


@program(inputs=ROWS)
def count_beside_picked_rows(x):
    total = x.new_zeros(())
    for k, v in zip(itertools.count(1), x[x > 0], strict=False):
        total = total + k * v
    return total


@program(inputs=ROWS)
def rows_of_a_number(x):
    try:
        for _, v in enumerate(x.sum()):
            if v > 0:
                break
    except TypeError as error:
        return str(error)
    return "rows"


@pytest.mark.parametrize(
    "subject",
    [
        strict_zip_of_rows,
        strict_zip_of_rows_without_a_handler,
        strict_zip_of_lists,
        strict_zip_that_is_made_before,
        any_of_a_strict_zip,
        generator_that_raises,
        division_in_an_iterator,
        any_of_quotients,
        count_beside_picked_rows,
        rows_of_a_number,
    ],
)
def test_each_element_at_its_trip(subject: Callable[..., Any]) -> None:
    check_any_graph(subject)
