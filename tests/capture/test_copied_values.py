"""Whether a frozen dataclass, named tuple or object that a branch gives is one from before: as in eager, or refused."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from tests.harness import check_any_graph, compiled, program, vec
from tests.programs import attributes


@dataclass(frozen=True)
class State:
    step: Any = 0


@dataclass(frozen=True, eq=False)
class Named:
    step: Any = 0


class Pair(NamedTuple):
    step: Any = 0


class Angle(Pair):
    def __new__(cls, step: Any) -> Angle:
        return super().__new__(cls, step)


class Node:
    def __init__(self, value: Any) -> None:
        self.value = value


WHY = "`is` between what an operator gives and what was there before"
KINDS = [State, Named, Pair, Angle]
INPUTS = [lambda kind=kind, sign=sign: (vec(1, 2) * sign, [kind(0), kind(1)]) for kind in KINDS for sign in (1, -1, 3)]


def another(x: Tensor, given: list[Any]) -> Any:
    old = new = given[0]
    if x.sum() > 0:
        new = type(old)(1)
    return new is old, new is not old, operator.is_(old, new), x


def one_of_two(x: Tensor, given: list[Any]) -> Any:
    one, other = given
    found = one if x.sum() > 0 else other
    return found is one, other is found


def in_a_list(x: Tensor, given: list[Any]) -> Any:
    seen = [given[0]]
    for k in range(3):
        new = seen[-1]
        if x.sum() > 2 * k:
            new = type(new)(new.step + 1)
        if new is not seen[-1]:
            seen.append(new)
    return [one.step for one in seen]


def made_by_a_branch(x: Tensor, given: list[Any]) -> Any:
    if x.sum() > 0:
        one = type(given[0])(x)
        other = one
    else:
        one, other = type(given[0])(x), type(given[0])(x * 2)
    return one is other


def asked_in_a_branch(x: Tensor, given: list[Any]) -> Any:
    new = given[0]
    if x.sum() > 0:
        new = type(new)(2)
    kind = 0
    if x[0] > 0:
        kind = 1 if new is given[0] else 2
    return kind


def carried_by_a_loop(x: Tensor, given: list[Any]) -> Any:
    new, same = type(given[0])(x), 0
    begun, y = new, x.sum()
    while y < 5:
        if new is begun:
            same += 1
        new = type(new)(x * y)
        y = y + 3
    return same, y


@pytest.mark.parametrize(
    "ask", [another, one_of_two, in_a_list, made_by_a_branch, asked_in_a_branch, carried_by_a_loop]
)
def test_it_is_asked_as_in_eager(ask: Callable[..., Any]) -> None:
    check_any_graph(program(inputs=INPUTS, refused=WHY)(ask))


@program(inputs=[lambda sign=sign: (vec(1, 2) * sign, [State(0)]) for sign in (1, -1, 3)])
def fields_and_types_are_no_question(x: Tensor, given: list[Any]) -> Any:
    new = given[0]
    if x.sum() > 0:
        new = replace(new, step=new.step + 1)
    return new.step, new is None, new is Pair(0), new is given


def test_what_is_known_is_answered() -> None:
    check_any_graph(fields_and_types_are_no_question)


def compared(x: Tensor, given: list[Any]) -> Any:
    new = given[0]
    if x.sum() > 0:
        new = Named(1)
    return new == given[0], new != given[0], operator.eq(new, given[0])


def searched(x: Tensor, given: list[Any]) -> Any:
    new = given[0]
    if x.sum() > 0:
        new = Named(1)
    return new in [given[0]], (new,) == (given[0],)


def objects(x: Tensor) -> tuple[Node, Node]:
    if x.sum() > 0:
        one = Node(x)
        other = one
    else:
        one, other = Node(x), Node(x * 2)
    return one, other


def objects_compared(x: Tensor, given: list[Any]) -> Any:
    one, other = objects(x)
    return one == other, one != other


def objects_searched(x: Tensor, given: list[Any]) -> Any:
    one, other = objects(x)
    return one in [other], [one].count(other)


def objects_as_keys(x: Tensor, given: list[Any]) -> Any:
    one, other = objects(x)
    return {one: 1}.get(other), other in {one}, len({one, other})


@pytest.mark.parametrize("ask", [compared, searched, objects_compared, objects_searched, objects_as_keys])
def test_so_are_those_that_nothing_else_tells_apart(ask: Callable[..., Any]) -> None:
    inputs = [lambda sign=sign: (vec(1, 2) * sign, [Named(0)]) for sign in (1, -1, 3)]
    check_any_graph(program(inputs=inputs, refused=WHY)(ask))


@pytest.mark.parametrize("one", [attributes.cached_behind_a_branch, attributes.cached_of_the_one_from_before])
def test_a_copy_that_is_written_to_after_all(one: Callable[..., Any]) -> None:
    check_any_graph(one)


def test_without_a_branch_there_is_no_copy() -> None:
    def plain(x: Tensor) -> Any:
        one, other = Node(x), Node(x)
        kept = {one: 1, other: 2}
        return one == other, one in [other], len(kept), State(1) is State(1)

    assert compiled(plain)(torch.ones(2)) == (False, False, 2, False)
