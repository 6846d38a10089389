"""What `in`, `sum`, `any` and `all` evaluate and ask, in the order of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.harness import check, check_any_graph, integer, program, vec


class Switch:
    """It counts how often it is asked for its truth."""

    def __init__(self, on: bool) -> None:
        self.on, self.asked = on, 0

    def __bool__(self) -> bool:
        self.asked += 1
        return self.on


class Noted:
    """A number that notes when it is added."""

    def __init__(self, value: int, log: list[str]) -> None:
        self.value, self.log = value, log

    def __radd__(self, other: int) -> int:
        self.log.append("add")
        return other + self.value


def switches(*states: int) -> list[Switch]:
    return [Switch(bool(state)) for state in states]


X = vec(1, 2)
ALL_OF_THEM = [
    lambda: (X, switches(1, 0, 1)),
    lambda: (X, switches(0, 0)),
    lambda: (X, switches(0, 1, 1)),
    lambda: (X, switches(1, 1)),
    lambda: (X, []),
]


@program(inputs=[lambda: (X, ["a", "abc"]), lambda: (X, ["abc", "a"]), lambda: (X, ["z", "a"])])
def both_from_a_queue(x, queue):
    return x, queue.pop(0) in queue.pop(0), queue


@program(inputs=[lambda: (X, ["a", "abc"]), lambda: (X, ["abc", "a"])])
def neither_from_a_queue(x, queue):
    if queue.pop(0) not in queue.pop(0):
        x = x + 1
    return x, queue


@program(inputs=[lambda: (X, {"a": []}, lambda x: "a"), lambda: (X, {"a": ["a"]}, lambda x: "a")])
def right_side_reads_what_the_left_binds(x, table, key):
    if (k := key(x)) not in table[k]:
        table[k].append(k)
    return x, table


@program(inputs=[lambda: (X, [integer(1), ints_of(1, 2)]), lambda: (X, [integer(3), ints_of(1, 2)])])
def tensors_from_a_queue(x, queue):
    return (x + 1 if queue.pop(0) in queue.pop(0) else x), queue


def ints_of(*values: int) -> Tensor:
    return torch.tensor(values)


@program(inputs=[lambda: (X, [], [1, 2]), lambda: (X, [], [2, 0, 1]), lambda: (X, [], [0])])
def a_sum_adds_one_by_one(x, log, xs):
    def note(v):
        log.append("make")
        return Noted(v, log)

    return x, sum(note(v) for v in xs if v)


@program(inputs=[lambda: (X, [], [1, 2]), lambda: (X, [], [2, 0, 1])])
def a_sum_of_a_list_adds_when_it_is_there(x, log, xs):
    def note(v):
        log.append("make")
        return Noted(v, log)

    return x, sum([note(v) for v in xs if v])


@program(inputs=[lambda: (X, [1, None, 3], [1, 1, 1]), lambda: (X, [1, 2, 3], [1, 0, 1])])
def a_sum_that_fails_takes_no_more(x, queue, keep):
    try:
        total = sum(queue.pop(0) for k in keep if k)
    except TypeError:
        total = "no sum"
    return x, total, queue


@program(inputs=[lambda: (X, [1, None, 3], [1, 1, 1]), lambda: (X, [1, 2, 3], [1, 0, 1])])
def a_sum_of_a_list_that_fails_has_taken_all(x, queue, keep):
    try:
        total = sum([queue.pop(0) for k in keep if k])
    except TypeError:
        total = "no sum"
    return x, total, queue


@program(inputs=[lambda: ([0.1] * 10, X), lambda: ([1e100, 1.0, -1e100, 0.0], X)])
def a_sum_of_numbers_and_tensors(numbers, x):
    return sum(n for n in numbers if n), sum(n for n in [*numbers, *x] if n), sum([n for n in [*numbers, *x] if n])


@program(inputs=ALL_OF_THEM)
def a_list_is_made_before_any_is_asked(x, bs):
    return x, any([b for b in bs if b]), all([b for b in bs if b]), [b.asked for b in bs]


@program(inputs=ALL_OF_THEM)
def generators_ask_one_by_one(x, bs):
    return x, any(b for b in bs if b), all(b for b in bs if b), [b.asked for b in bs]


@program(inputs=ALL_OF_THEM)
def a_list_of_negated(x, bs):
    return x, any([not b for b in bs]), all([not b for b in bs]), [b.asked for b in bs]


@program(inputs=ALL_OF_THEM)
def what_has_decided_is_asked_again(x, bs):
    found = all(b and 1 for b in bs), any(b or 0 for b in bs), any(b and b for b in bs), all(b or 0 for b in bs)
    return x, found, [b.asked for b in bs]


@program(inputs=ALL_OF_THEM)
def operands_in_a_list(x, bs):
    found = (
        all([b and 1 for b in bs]),
        any([b or 0 for b in bs]),
        any([b and b for b in bs]),
        all([1 and b for b in bs]),
    )
    return x, found, [b.asked for b in bs]


@program(inputs=ALL_OF_THEM)
def several_tests(x, bs):
    return x, any([b for b in bs if b if not b]), all([b.on for b in bs if b.on and b]), [b.asked for b in bs]


@program(inputs=[lambda: (X, [1, 1, 0], 1), lambda: (X, [1], 0), lambda: (X, [0, 2], 1)])
def what_is_not_kept_is_not_evaluated(x, checks, on):
    log = []
    return x, any([log.append(c) or c for c in checks if on and c]), all([log.append(c) or c for c in checks if c]), log


@program(inputs=[lambda: (vec(1, -2, 3),), lambda: (vec(-1, -2),), lambda: (vec(1, 2),)])
def data_decide_in_a_list(x):
    some = any([v > 2 for v in x if v > 0])
    every = all([v < 3 for v in x if v > 0])
    both = any([v > 0 and v < 2 for v in x]), all([not v > 0 or v < 3 for v in x]), any([0 < v < 2 for v in x])
    return (x * 2 if some else x), every, both, sum([v * 2 for v in x if v > 0])


PROGRAMS = [one for one in globals().values() if hasattr(one, "__program__")]


@pytest.mark.parametrize("subject", PROGRAMS, ids=lambda one: one.__name__)
def test_any_graph(subject: Callable[..., Any]) -> None:
    check_any_graph(subject)


@pytest.mark.parametrize("subject", PROGRAMS, ids=lambda one: one.__name__)
def test_without_a_graph(subject: Callable[..., Any]) -> None:
    verdict = check(subject.__program__, "converted")  # type: ignore[attr-defined]
    assert verdict.kind == "equal", verdict.reason


@program(inputs=[lambda: (X, [True, vec(1, 0)], 1), lambda: (X, [True], 0)])
def the_first_decides_and_the_second_has_no_truth(x, checks, on):
    return x, any([c for c in checks if on]), any([on and c for c in checks])


def test_elements_behind_the_first_that_decides() -> None:
    check_any_graph(the_first_decides_and_the_second_has_no_truth)


@program(inputs=[lambda: (vec(1, 2), switches(1, 0)), lambda: (vec(-1, 2), switches(1, 1))])
def data_tell_whether_objects_are_asked(x, bs):
    return x, any([v > 0 and b for v, b in zip(x, bs)]), [b.asked for b in bs]


@program(inputs=[lambda: (vec(1, 2), switches(1, 0)), lambda: (vec(-1, -2), switches(1, 1))])
def a_list_of_objects_behind_a_tensor(x: Tensor, bs):
    return x, any([x.sum() > 0 and b for b in bs]), [b.asked for b in bs]


def test_a_list_behind_what_data_decide() -> None:
    check_any_graph(a_list_of_objects_behind_a_tensor)


def test_objects_behind_what_data_decide() -> None:
    check_any_graph(data_tell_whether_objects_are_asked)


class Sized:
    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size


@program(inputs=[lambda: (X, [Sized(1)]), lambda: (X, [Sized(0)]), lambda: (X, [Sized(2)])])
def objects_whose_number_changes(x, ls):
    return x, any(one for one in ls), all(one and 1 for one in ls)


def test_objects_whose_number_changes() -> None:
    check_any_graph(objects_whose_number_changes)


def numbers(seen: list[Any]) -> Iterator[Any]:
    for v in (1, "a", 3):
        seen.append(v)
        yield v


@program(inputs=[lambda: (X,)])
def a_source_that_notes_what_it_gives(x):
    seen = []
    try:
        total = sum(v for v in numbers(seen) if v)
    except TypeError:
        total = "no sum"
    return x, total, seen


def test_a_source_is_asked_no_further() -> None:
    check_any_graph(a_source_that_notes_what_it_gives)
