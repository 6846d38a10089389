"""What methods of sets are given is gone through once, no further than in Python; of two equal members one stays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autograph_torch.capture.set_arguments import set_arguments
from tests.harness import check_any_graph, compiled, leave_out, program, torch_before, vec


class Key:
    """Equal by its value, found by its hash."""

    def __init__(self, value: int, tag: str, hashed: int | None = None) -> None:
        self.value, self.tag, self.hashed = value, tag, value if hashed is None else hashed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.value == other.value

    def __hash__(self) -> int:
        return self.hashed


class Bag:
    def __init__(self, values: list[int]) -> None:
        self.values, self.asked = values, 0

    def __iter__(self) -> Iterator[int]:
        self.asked += 1
        return iter(self.values)


METHODS = ("union", "difference", "intersection", "symmetric_difference")


def given(*arguments: Callable[[], Any]) -> list[Callable[[], Any]]:
    return [lambda x=x, make=make: (vec(x, 2), make()) for x, make in zip((1, -1, 2), arguments, strict=True)]


LISTS = given(lambda: [2, 3], lambda: [1, 4], lambda: [2, 1, 9])


@program(inputs=LISTS)
def iterators_are_gone_through_once(x, values):
    found = [getattr({1, 2}, name)(v for v in values) for name in METHODS]
    found += [getattr(frozenset([1, 2]), name)(map(abs, values)) for name in METHODS]
    for name in METHODS[1:]:
        members = {1, 2}
        getattr(members, f"{name}_update")(iter(values))
        found.append(members)
    left = set(range(4)).difference(v for v in values if v > 0)
    for one in sorted(left):
        x = x + one
    return x if x.sum() > 0 else -x, found


@program(inputs=LISTS)
def what_is_left_in_an_iterator(x, values):
    found = []
    for name in (*METHODS, "isdisjoint", "issuperset", "issubset", "intersection_update"):
        rows = itertools.chain(values, [5])
        members = {1, 2}
        found += [getattr(members, name)(rows), members, list(rows)]
    return x, found


@program(inputs=given(*[lambda: Bag([2, 3])] * 3))
def objects_are_asked_once(x, bag):
    return x, [getattr({1, 2}, name)(bag) for name in METHODS], bag.asked


@program(inputs=given(lambda: 7, lambda: 5, lambda: 2))
def hashes_that_differ(x, hashed):
    one, other = {Key(5, "a", 5)}, {Key(5, "b", hashed)}
    return x, len(one & other), one.isdisjoint(other), len(one.intersection([Key(5, "c", hashed)]))


@program(inputs=given(lambda: 1, lambda: 3, lambda: 2))
def the_one_that_stays(x, value):
    one, other = {Key(1, "a"), Key(2, "a")}, {Key(value, "b")}
    tags = [sorted(k.tag for k in found) for found in (one & other, other & one, one.intersection([Key(value, "c")]))]
    return x, tags, [type(v) for v in {1, 2}.intersection([float(value)])]


PROGRAMS: Any = (
    iterators_are_gone_through_once,
    what_is_left_in_an_iterator,
    objects_are_asked_once,
    hashes_that_differ,
    the_one_that_stays,
)


@torch_before("2.12", "its sets have other variables")
@pytest.mark.parametrize("tested", PROGRAMS, ids=lambda tested: tested.__name__)
def test_as_eager(tested: Callable[..., Any]) -> None:
    check_any_graph(tested)


@torch_before("2.12", "its sets have other variables")
def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, set_arguments)
    one, other = {Key(5, "a", 5)}, {Key(5, "b", 7)}
    assert not compiled(lambda x: (x, one.isdisjoint(other)))(vec(1))[1]
