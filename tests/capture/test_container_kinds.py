"""Kinds of dicts that a branch or loop writes to: what the caller's holds afterwards is eager's, or it is refused."""

from __future__ import annotations

import copy
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import CaptureError, convert
from tests.harness import check, check_any_graph, program, torch_before, vec

TWO = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)]


class Plain(dict):
    pass


class Missing(dict):
    def __missing__(self, key: str) -> int:
        return 7


def in_a_branch(x: Tensor, d: Any) -> Any:
    if x.sum() > 0:
        d["a"] = d["a"] + 1
    return d["a"]


def in_a_loop(x: Tensor, d: Any) -> Any:
    while x.sum() > 1:
        d["a"] = d["a"] + 1
        x = x / 2
    return d["a"]


def count(d: Any) -> None:
    d["a"] = d["a"] + 1


def in_a_helper(x: Tensor, d: Any) -> Any:
    if x.sum() > 0:
        count(d)
    return d["a"]


def new_item(x: Tensor, d: Any) -> Any:
    if x.sum() > 0:
        d["q"] += 1
    return d["a"]


KINDS: dict[str, Callable[[], Any]] = {
    "dict": dict, "OrderedDict": OrderedDict, "a class of the user's": Plain, "defaultdict": lambda: defaultdict(int),
    "Counter": Counter, "a class with __missing__": Missing,
}  # fmt: skip
PLAIN = ("dict", "OrderedDict", "a class of the user's")


@pytest.mark.parametrize("function", [in_a_branch, in_a_loop, in_a_helper, new_item])
@pytest.mark.parametrize("kind", KINDS)
def test_a_write_to_a_dict_of_the_caller_is_not_lost(kind: str, function: Callable[..., Any]) -> None:
    if function is new_item and kind in PLAIN:
        pytest.skip("a KeyError in eager, too")
    compiled = torch.compile(convert(function), fullgraph=True, backend="eager")
    for x in (torch.ones(2), -torch.ones(2)):
        given, expected = KINDS[kind](), KINDS[kind]()
        given["a"] = expected["a"] = 1
        try:
            result = compiled(x, given)
        except CaptureError:
            assert kind != "dict"
            return
        assert (result, given) == (function(x, expected), expected)


@pytest.mark.parametrize("kind", PLAIN)
def test_kinds_that_a_branch_may_write_to(kind: str) -> None:
    given = KINDS[kind]()
    given["a"] = 1
    assert torch.compile(convert(in_a_branch), fullgraph=True, backend="eager")(torch.ones(2), given) == 2
    assert given == {"a": 2} and type(given) is type(KINDS[kind]())


def _table(x: Tensor, tag: Any) -> Any:
    table: Any = OrderedDict(a=x, b=1)
    table.tag, table.doubled = tag, x * 2
    return table


def _parts(table: Any) -> Any:
    return list(table.items()), list(vars(table).items())


@program(inputs=TWO)
def ordered_dicts_with_attributes(x: Tensor) -> Any:
    table = _table(x, "of x") if x.sum() > 0 else _table(-x, "of x")
    kept = table
    return _parts(table), kept is table, table.tag


@program(inputs=TWO)
def attributes_that_differ(x: Tensor) -> Any:
    table = _table(x, 1) if x.sum() > 0 else _table(-x, 2)
    return _parts(table), table.tag


@program(inputs=TWO)
def attributes_behind_writes(x: Tensor) -> Any:
    table = _table(x, 1)
    if x.sum() > 0:
        table["a"] = x + table.tag
        table["c"] = x + table.doubled
    return _parts(table)


@program(inputs=TWO)
def attributes_read_by_writes(x: Tensor) -> Any:
    table = _table(x, 1)
    if x.sum() > 0:
        table["a"] = x + table.tag
    else:
        table["a"] = x - table.doubled
    return _parts(table)


@program(inputs=TWO)
def attributes_behind_a_loop(x: Tensor) -> Any:
    table = _table(x, 1)
    while x.sum() < 10:
        x = x.abs() + 1
        table = _table(x, 1)
    return _parts(table)


@program(inputs=TWO)
def the_state_of_a_module(x: Tensor) -> Any:
    layer = nn.BatchNorm1d(2)
    state = layer.state_dict() if x.sum() > 0 else copy.deepcopy(layer.state_dict())
    return list(state.items()), state._metadata  # type: ignore[attr-defined]


@torch_before("2.13", "an OrderedDict has no attributes")
@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize(
    "subject",
    [
        ordered_dicts_with_attributes,
        attributes_that_differ,
        attributes_behind_writes,
        attributes_behind_a_loop,
        the_state_of_a_module,
    ],
)
def test_attributes_of_ordered_dicts(subject: Any) -> None:
    check_any_graph(subject)


@torch_before("2.13", "an OrderedDict has no attributes")
@pytest.mark.parametrize(
    "subject", [ordered_dicts_with_attributes, attributes_behind_a_loop, attributes_read_by_writes]
)
def test_attributes_of_ordered_dicts_for_all_data(subject: Any) -> None:
    verdict = check(subject.__program__, "eager")
    assert verdict.kind == "equal", verdict.reason
