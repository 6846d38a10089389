"""Lists, dicts and objects that one path puts others in the place of: on the other ones they stay what they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, autograph
from tests.harness import difference, vec
from tests.worlds import picture

INPUTS = ((1.0, 2.0), (-4.0, 12.0), (4.0, -2.0), (-0.1, 12.0), (3.0, 5.0))


class Node:
    def __init__(self, value: Any) -> None:
        self.value = value


class Pair(NamedTuple):
    number: int
    row: list[Any]


@dataclass
class Record:
    number: int
    row: list[Any]


class Box:
    def __init__(self) -> None:
        self.items: list[Any] = []
        self.last: Any = None


def _world() -> Any:
    items = [torch.ones(())]
    return SimpleNamespace(items=items, table={"items": items}, node=Node(items))


# -- one graph for all data ---------------------------------------------------------------------------------------


def last_and_list(w: Any, x: Tensor) -> Any:
    item = [x[0] * 2, 1]
    items, last = [item], item
    if x[0] >= 2:
        last = [x[1] * 2, 1]
        items.append(last)
    return items, last


def kept_in_an_object_and_returned_in_between(w: Any, x: Tensor) -> Any:
    box = Box()
    item = [x[0] * 2, 1]
    box.items.append(item)
    box.last = item
    if x[0] < 0:
        return box
    item = [x[1] * 2, 1]
    box.items.append(item)
    box.last = item
    return box


def kept_in_an_object_until_the_break(w: Any, x: Tensor) -> Any:
    box = Box()
    for v in x:
        item = {"v": v * 2}
        box.items.append(item)
        box.last = item
        if v < 0:
            break
    return box


def replaced_in_a_dict(w: Any, x: Tensor) -> Any:
    table = {"a": [1]}
    item = table["a"]
    if x[0] >= 2:
        table["a"] = [2]
    return table, item


def replaced_in_a_dict_and_written_to(w: Any, x: Tensor) -> Any:
    table = {"a": [1]}
    item = table["a"]
    if x[0] >= 2:
        table["a"] = [2]
    table["a"].append(x[0])
    return item


def replaced_in_an_object(w: Any, x: Tensor) -> Any:
    node = Node([1])
    item = node.value
    if x[0] >= 2:
        node.value = [2]
    return node, item


def in_a_new_object(w: Any, x: Tensor) -> Any:
    node = Node([1])
    if x[0] > 2:
        other = Node(node.value)
    else:
        other = Node([2])
    return node, other


def in_a_new_object_and_written_to(w: Any, x: Tensor) -> Any:
    node = Node([1])
    if x[0] > 2:
        other = Node(node.value)
    else:
        other = Node([2])
    other.value.append(x[0])
    return node.value


def in_a_longer_list_and_written_to(w: Any, x: Tensor) -> Any:
    rows, row, kept = [], [x[1]], [[x[0]]]
    if x.sum() < 9:
        rows += [row, [x[0]]]
        kept.append(row)
    else:
        rows += [[x[0]], row, [x[1]]]
    rows[0][0] = x.sum()
    return rows, row, kept


def replaced_by_a_loop(w: Any, x: Tensor) -> Any:
    rows = [[1]]
    row = rows[0]
    while x.sum() < 9:
        row = [2]
        x = x + 1
    return rows, row


def replaced_by_a_loop_in_an_object(w: Any, x: Tensor) -> Any:
    row = w.items
    while x.sum() < 9:
        w.items = [x[0]]
        x = x + 1
    return row is w.items


def argument_or_another(w: Any, x: Tensor) -> Any:
    if x.sum() < 9:
        w.table["items"] = [x.sum()]
    else:
        w.items = w.node.value
    return w.items


def new_object_or_that_of_an_inner_branch(w: Any, x: Tensor) -> Any:
    node = Node(x[0])
    if x.sum() < 9:
        if x[0] > 2:
            node = Node(x.sum())
    return node


def object_or_that_of_an_inner_branch(w: Any, x: Tensor) -> Any:
    node = w.node
    if x.sum() < 9:
        if x[0] > 2:
            node = Node(x.sum())
    return node


def object_or_another(w: Any, x: Tensor) -> Any:
    node = Node(x[0])
    last = node
    if x[0] > 2:
        last = Node(x[1])
    return node, last


def second_of_one_or_two_of_an_inner_branch(w: Any, x: Tensor) -> Any:
    if x.sum() < 9:
        if x[0] > 1:
            first = [x]
            second = first
        else:
            first, second = [x], [x * 3]
    else:
        first, second = [x], [x * 5]
    return second, first[0] + 1


def in_each_of_the_objects_of_a_list(w: Any, x: Tensor) -> Any:
    nodes = []
    for v in x:
        if v > 2:
            nodes.append(Node(w.items))
    return nodes


def row_in_a_tuple_in_a_list(w: Any, x: Tensor) -> Any:
    row = [x[0]]
    both = [(1, row), x]
    while x.sum() < 9:
        row[0] = x.sum()
        both[1] = x * 1
        x = x + 2
    return both, row


def row_in_a_tuple_that_is_written_to_behind(w: Any, x: Tensor) -> Any:
    row = [x[0]]
    table = {"pair": (1, row), "x": x}
    while x.sum() < 9:
        table["x"] = x * 1
        x = x + 2
    row.append(3)
    return table


def row_in_a_named_tuple_in_a_list(w: Any, x: Tensor) -> Any:
    row = [x[0]]
    both = [Pair(1, row), x]
    while x.sum() < 9:
        row[0] = x.sum()
        both[1] = x * 1
        x = x + 2
    return both, row


def row_in_a_dataclass_in_a_list(w: Any, x: Tensor) -> Any:
    row = [x[0]]
    both = [Record(1, row), x]
    while x.sum() < 9:
        row[0] = x.sum()
        both[1] = x * 1
        x = x + 2
    return both, row


def object_in_a_list(w: Any, x: Tensor) -> Any:
    node = Node(1)
    both = [node, x]
    while x.sum() < 9:
        node.value = node.value + 1
        both[1] = x * 1
        x = x + 2
    return both, node


def the_other_object_in_a_list_is_replaced(w: Any, x: Tensor) -> Any:
    nodes = [Node(x[0]), Node(x[1])]
    first = nodes[0]
    while x.sum() < 9:
        nodes[1] = Node(x.sum())
        x = x + 2
    first.value = first.value + 1
    return nodes, first


def objects_change_places(w: Any, x: Tensor) -> Any:
    nodes = {"a": Node(x[0]), "b": Node(x[1])}
    while x.sum() < 9:
        nodes["a"], nodes["b"] = nodes["b"], nodes["a"]
        x = x + 2
    nodes["a"].value = nodes["a"].value + x[0]
    return nodes


FOR_ALL_DATA = [
    row_in_a_tuple_in_a_list,
    row_in_a_tuple_that_is_written_to_behind,
    row_in_a_named_tuple_in_a_list,
    row_in_a_dataclass_in_a_list,
    object_in_a_list,
    the_other_object_in_a_list_is_replaced,
    objects_change_places,
    in_each_of_the_objects_of_a_list,
    object_or_that_of_an_inner_branch,
    object_or_another,
    second_of_one_or_two_of_an_inner_branch,
    new_object_or_that_of_an_inner_branch,
    last_and_list,
    kept_in_an_object_and_returned_in_between,
    kept_in_an_object_until_the_break,
    replaced_in_a_dict,
    replaced_in_a_dict_and_written_to,
    replaced_in_an_object,
    in_a_new_object,
    in_a_new_object_and_written_to,
    in_a_longer_list_and_written_to,
    replaced_by_a_loop,
    replaced_by_a_loop_in_an_object,
    argument_or_another,
]


# -- one path -----------------------------------------------------------------------------------------------------


def replaced_by_an_inner_branch(w: Any, x: Tensor) -> Any:
    rows = [[1]]
    row = rows[0]
    if x.sum() < 9:
        if x[0] > 2:
            row = [2]
    return rows, row


def argument_or_that_of_an_inner_branch(w: Any, x: Tensor) -> Any:
    row = w.items
    if x.sum() < 9:
        if x[0] > 2:
            row = [x.sum()]
    return row


def attribute_that_an_inner_branch_sets(w: Any, x: Tensor) -> None:
    if x.sum() < 9:
        if x[0] > 2:
            w.items = [x.sum()]


def replaced_by_a_loop_in_a_branch(w: Any, x: Tensor) -> Any:
    rows = [[1]]
    row = rows[0]
    if x.sum() < 9:
        while x.sum() < 8:
            row = [2]
            x = x + 1
    return rows, row


def row_of_an_inner_branch_in_a_longer_list(w: Any, x: Tensor) -> Any:
    rows: list[Any] = []
    last = None
    if x.sum() < 12:
        if x[0] > 2:
            last = [x]
            rows.append(last)
    return rows, last


def first_of_two_that_branches_add(w: Any, x: Tensor) -> Any:
    rows: list[Any] = []
    last: Any = {}
    if x[0] > 0:
        last = {"k": x[0]}
        rows.append(last)
    if x[1] > 0:
        rows.append({"k": x[1]})
    return rows, last


def argument_or_that_of_a_trip(w: Any, x: Tensor) -> Any:
    row = w.items
    while x.norm() < 40:
        if x[0] > 4:
            row = [x.sum()]
        x = x * 2
    return row


def one_or_two_lists_in_two_places(w: Any, x: Tensor) -> Any:
    if x[0] > 1:
        first = [x]
        second = first
    else:
        first, second = [x], [x * 3]
    if x.sum() > 5:
        one, other = first, second
    else:
        one, other = second, [x]
    return one, other


def one_object_in_a_list_is_replaced(w: Any, x: Tensor) -> Any:
    nodes = [Node(x[0]), Node(x[1])]
    first, second = nodes
    while x.sum() < 9:
        nodes[1] = Node(x.sum())
        x = x + 2
    first.value = first.value + 1
    return nodes, first, second


def object_that_a_loop_replaces_is_written_to(w: Any, x: Tensor) -> Any:
    box = Box()
    box.items.append(x[0])
    box.last = Record(1, box.items)
    before = box.last
    while x.sum() < 9:
        box.last = Record(2, [x.sum()])
        x = x + 2
    before.number = 77
    return box


ON_ONE_PATH = [
    object_that_a_loop_replaces_is_written_to,
    one_object_in_a_list_is_replaced,
    one_or_two_lists_in_two_places,
    argument_or_that_of_a_trip,
    replaced_by_an_inner_branch,
    argument_or_that_of_an_inner_branch,
    attribute_that_an_inner_branch_sets,
    replaced_by_a_loop_in_a_branch,
    row_of_an_inner_branch_in_a_longer_list,
    first_of_two_that_branches_add,
]


def _check(function: Callable[..., Any], backend: str) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend=backend)
    for numbers in INPUTS:
        plain, own = _world(), _world()
        expected = picture((function(plain, vec(*numbers)), plain), {})
        assert not difference(expected, picture((fast(own, vec(*numbers)), own), {}), "call")


@pytest.mark.parametrize("function", FOR_ALL_DATA)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_one_stays_one(function: Callable[..., Any], backend: str) -> None:
    _check(function, backend)


@pytest.mark.parametrize("function", ON_ONE_PATH)
@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
def test_one_stays_one_on_its_path(function: Callable[..., Any]) -> None:
    _check(function, "eager")


@pytest.mark.parametrize("function", ON_ONE_PATH)
def test_no_graph_for_all_data_has_two_for_one(function: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match="AG3"):
        autograph(function, backend="eager")(_world(), vec(1.0, 2.0))
