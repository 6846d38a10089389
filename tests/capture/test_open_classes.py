"""Protocols ask what an object has, and classes may be registered between calls: later calls count."""

from __future__ import annotations

import abc
import collections.abc
import types
import typing
from collections.abc import Callable
from typing import Any, Protocol

import pytest
import torch
from torch import Tensor

from autograph_torch.capture.open_classes import open_classes
from tests.harness import check_any_graph, compiled, leave_out, program, torch_before, vec


@typing.runtime_checkable
class Rated(Protocol):
    rate: float


@typing.runtime_checkable
class Updated(Protocol):
    def update(self, value: Any) -> Any: ...


@typing.runtime_checkable
class Shaped(Protocol):
    shape: Any


class Thing:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


class Rate(Thing):
    rate = 3.0


class Lazy(Thing):
    update: Any = None


GIVEN = [
    lambda: (vec(1, 2), Thing()),
    lambda: (vec(1, 2), Thing(rate=2.0)),
    lambda: (vec(-1, -2), Thing(rate=4.0)),
    lambda: (vec(1, 2), Thing(update=None)),
    lambda: (vec(1, 2), Rate()),
    lambda: (vec(1, 2), Lazy()),
    lambda: (vec(1, 2), Lazy(update=len)),
    lambda: (vec(1, 2), Thing()),
]


@program(inputs=GIVEN)
def by_an_attribute(x: Tensor, one: Any) -> Any:
    if x.sum() > 0:
        x = x + 1
    return (x * one.rate if isinstance(one, Rated) else x), isinstance(one, Updated)


@program(inputs=[*GIVEN[::-1], lambda: (vec(1, 2), [1]), lambda: (vec(1, 2), {}), lambda: (vec(1, 2), 2.5)])
def of_several(x: Tensor, one: Any) -> Any:
    return x * 2, isinstance(one, (int, Updated)), isinstance(one, Rated | collections.abc.Mapping)


@program(inputs=GIVEN)
def by_a_pattern(x: Tensor, one: Any) -> Any:
    match one:
        case Rated(rate=rate):
            return x * rate if x.sum() > 0 else x
        case Updated():
            return x + 1
    return x


@program(inputs=GIVEN)
def in_a_branch(x: Tensor, one: Any) -> Any:
    if x.sum() > 0:
        return x * (2 if isinstance(one, Rated) else 3)
    return x - 1 if isinstance(one, Updated) else x


@program(inputs=GIVEN)
def of_what_the_call_writes_to(x: Tensor, one: Any) -> Any:
    before = isinstance(one, Rated)
    one.rate = 5
    one.update = print
    behind = isinstance(one, Rated), isinstance(one, Updated)
    one.update = None
    del one.rate
    return x * 2, before, behind, isinstance(one, Updated)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def of_what_the_call_makes(x: Tensor) -> Any:
    rated, plain, of_class, lazy = Thing(rate=2), Thing(), Rate(), Lazy()
    objects = (rated, plain, of_class, lazy, {}, [], (), {1})
    if x.sum() > 0:
        x = x * 2
    return x, [isinstance(one, Rated) for one in objects], [isinstance(one, Updated) for one in objects]


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def of_tensors(x: Tensor) -> Any:
    y = x * 2
    return y, isinstance(x, Shaped), isinstance(y, Shaped), isinstance(y, Rated), isinstance(y, typing.Sized)


OLDER = torch_before("2.12", "what the call has made is not asked")
PROGRAMS: Any = (
    by_an_attribute,
    of_several,
    by_a_pattern,
    in_a_branch,
    pytest.param(of_what_the_call_writes_to, marks=OLDER, id="of_what_the_call_writes_to"),
    pytest.param(of_what_the_call_makes, marks=OLDER, id="of_what_the_call_makes"),
    of_tensors,
)


@pytest.mark.parametrize("subject", PROGRAMS, ids=lambda subject: subject.__name__)
def test_as_eager(subject: Any) -> None:
    check_any_graph(subject)


Making = tuple[Callable[..., Any], Callable[[], Any]]


def of_an_object() -> Making:
    array = abc.ABCMeta("Array", (), {})
    one = Thing()
    return lambda x: x * 2 if isinstance(one, array) else x, lambda: array.register(Thing)


def of_a_new_one() -> Making:
    array = abc.ABCMeta("Array", (), {})
    mine = type("Mine", (), {})

    def run(x: Tensor) -> Tensor:
        one = mine()
        return x * 2 if isinstance(one, (str, array)) else x

    return run, lambda: array.register(mine)


def of_a_class() -> Making:
    array = abc.ABCMeta("Array", (), {})
    one = Thing()
    return lambda x: x * 2 if issubclass(type(one), array) else x, lambda: array.register(Thing)


def of_a_list() -> Making:
    array = abc.ABCMeta("Array", (), {})
    return lambda x: x * 2 if isinstance([x], array) else x, lambda: array.register(list)


def of_an_attribute() -> Making:
    owner = types.SimpleNamespace(monitor=Thing())
    return (
        lambda x: x * 2 if isinstance(owner.monitor, Updated) else x,
        lambda: setattr(owner.monitor, "update", print),
    )


@pytest.mark.parametrize("make", [of_an_object, of_a_new_one, of_a_class, of_a_list, of_an_attribute])
def test_between_calls(make: Callable[[], Making]) -> None:
    function, change = make()
    run, x = compiled(function), vec(1, 2)
    assert run(x).tolist() == [1, 2]
    assert run(x).tolist() == [1, 2]
    change()
    assert run(x).tolist() == [2, 4] == function(x).tolist()


def test_no_trace_without_need() -> None:
    torch._dynamo.utils.counters.clear()
    run = compiled(lambda x, one: x * 2 if isinstance(one, (Rated, collections.abc.Sized)) else x)
    for one in (Thing(rate=1), Thing(rate=2), Thing(rate=1)):
        run(vec(1, 2), one)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


def test_torch_asks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, torch does without our repair."""
    leave_out(monkeypatch, open_classes)
    run = compiled(lambda x, one: x * 2 if isinstance(one, Rated) else x)
    run(vec(1, 2), Thing())
    assert run(vec(1, 2), Thing(rate=1)).tolist() == [1, 2]
