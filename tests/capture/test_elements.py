"""Elements of lists whose length data tell: the same tensors as in eager, or no graph for all data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.codegen import PyCodegen

from autograph_torch import convert
from autograph_torch.diagnostics import OnePathWarning
from tests.harness import vec


@dataclass
class Record:
    number: int


INPUTS = (vec(3, 4), vec(0.1, 0.1), vec(30, 40), vec(-1, 0.5))


def last_of_a_list_with_the_argument(x: Tensor) -> Any:
    path = [x]
    p = x
    while p.norm() > 1:
        p = p / 2
        path.append(p)
    return torch.stack(path), path[-1], {"again": path[-1]}


def last_but_one(x: Tensor) -> Any:
    path = [x, x * 2]
    while x.norm() > 1:
        x = x / 2
        path.append(x)
    return path[-2], path[1]


def one_behind_the_loop(x: Tensor) -> Any:
    path = []
    y = x
    while y.norm() > 1:
        y = y / 2
        path.append(y)
    z = y + 1
    path.append(z)
    path.append(x)
    return path[1], z


def element_and_list(x: Tensor) -> Any:
    path = [x * 2]
    while x.norm() > 1:
        x = x / 2
        path.append(x)
    return path, path[-1], path[0], path[-1] + 1


def pair_and_list(x: Tensor) -> Any:
    path = [(0, x)]
    n, y = 0, x
    while y.norm() > 1:
        y, n = y / 2, n + 1
        path.append((n, y))
    k, last = path[-1]
    return path, k, last


def list_whose_last_is_only_used(x: Tensor) -> Any:
    path = [x]
    while x.norm() > 1:
        x = x / 2
        path.append(x)
    return path, path[-1] * 2


def elements_of_two_lists(x: Tensor) -> Any:
    xs = [x + 1]
    norms = [x.norm()]
    while x.norm() > 1:
        x = x / 2
        xs.append(x)
        norms.append(x.norm())
    return xs[-1], norms[-1]


def read_by_the_trips(x: Tensor) -> Any:
    path = [x]
    while path[-1].norm() > 1:
        path.append(path[-1] / 2)
    return path[-1]


def list_of_clones(x: Tensor) -> Any:
    path = []
    while x.norm() > 1:
        path.append(x.clone())
        x = x / 2
    return x, path


def list_of_lists_and_its_last(x: Tensor) -> Any:
    path, x = [], x * 100
    while x.norm() > 4:
        x = x / 2
        path.append([len(path), 2.0])
    return path, path[-1]


def list_of_dicts_and_its_last_in_a_dict(x: Tensor) -> Any:
    path = [{"norm": x.norm(), "k": 0}]
    while x.norm() > 1:
        x = x / 2
        path.append({"norm": x.norm(), "k": len(path)})
    last = path[-1]
    return {"last": last, "again": last}


def list_in_pairs(x: Tensor) -> Any:
    path = [(0, [1.0, 2.0])]
    while x.norm() > 1:
        x = x / 2
        path.append((len(path), [3.0, 4.0]))
    return path[-1][1], len(path)


def list_of_records_and_its_last(x: Tensor) -> Any:
    path, x = [], x * 100
    while x.norm() > 4:
        x = x / 2
        path.append((Record(len(path)), 2.0))
    return path, path[-1][0]


FOR_ALL_DATA = [
    list_of_records_and_its_last,
    list_of_lists_and_its_last,
    list_of_dicts_and_its_last_in_a_dict,
    list_in_pairs,
    list_of_clones,
    last_of_a_list_with_the_argument,
    last_but_one,
    one_behind_the_loop,
    element_and_list,
    pair_and_list,
    list_whose_last_is_only_used,
    elements_of_two_lists,
    read_by_the_trips,
]


def last_is_not_the_argument(x: Tensor) -> Any:
    path = [x]
    y = x
    while y.norm() > 1:
        y = y / 2
        path.append(y)
    return path[-1] is not x, path[-1]


def asked_in_the_trips(x: Tensor) -> int:
    path = [x]
    n = 0
    while path[-1].norm() > 1:
        if path[-1] is x:
            n += 1
        path.append(path[-1] / 2)
    return n


def two_elements_asked(x: Tensor) -> bool:
    path = [x]
    y = x
    while y.norm() > 1:
        y = y / 2
        path.append(y)
    return path[-1] is path[0]


def pair_asked(x: Tensor) -> bool:
    first = {"x": x}
    path = [first]
    while path[-1]["x"].norm() > 1:
        path.append({"x": path[-1]["x"] / 2})
    return path[-1] is first


def last_by_two_names(x: Tensor) -> Any:
    path = [x + 1]
    while x.norm() > 1:
        x = x / 2
        path.append(x)
    return x, path[-1]


def argument_of_a_trip(x: Tensor) -> Any:
    path = [x + 1]
    while x.norm() > 1:
        path.append(x)
        x = x / 2
    return path[-1]


def chosen_by_a_loop(x: Tensor) -> Any:
    path = [x]
    while x.norm() > 1:
        x = x / 2
        path.append(x)
    best = path[0]
    for one in path:
        if one.sum() > 3:
            best = one
    return best


def loop_variable_and_list(x: Tensor) -> Any:
    path = [x + 1]
    while x.norm() > 1:
        x = x / 2
        path.append(x)
    last = path[0]
    for one in path:
        last = one
    return path, last


def turned_around(x: Tensor) -> Any:
    path = [x]
    while x.norm() > 1:
        x = x / 2
        path.append(x)
    return path[::-1][0]


def in_a_dict(x: Tensor) -> Any:
    path = [{"x": x}]
    while x.norm() > 1:
        x = x / 2
        path.append({"x": x})
    return path[-1]["x"]


def list_with_the_argument(x: Tensor) -> Any:
    path = []
    while x.norm() > 1:
        path.append(x)
        x = x / 2
    return path


def list_and_its_last(x: Tensor) -> Any:
    path = []
    x = x * 2
    while x.norm() > 1:
        x = x / 2
        path.append(x)
    return x, path


def list_of_pairs_and_its_last(x: Tensor) -> Any:
    path, n = [], 0
    x = x * 2
    while x.norm() > 1:
        x, n = x / 2, n + 1
        path.append((n, x))
    return path, x


def two_lists_of_a_list(x: Tensor) -> Any:
    path = [[1.0, 0]]
    while x.norm() > 1:
        x = x / 2
        path.append([2.0, len(path)])
    return path[-1], path[0]


def two_dicts_of_a_list(x: Tensor) -> Any:
    path, x = [], x * 100
    while x.norm() > 4:
        x = x / 2
        path.append({"k": len(path)})
    return path[-1], path[0]


def list_of_lists_and_one_from_before(x: Tensor) -> Any:
    path = [[1.0, 0]]
    while x.norm() > 1:
        x = x / 2
        path.append([2.0, len(path)])
    return path, path[0], path[-1]


def dict_by_a_branch(x: Tensor) -> Any:
    path = [{"k": 0.0}]
    while x.norm() > 1:
        x = x / 2
        path.append({"k": 1.0})
    if x[0] > 0:
        last = path[-1]
    else:
        last = path[0]
    return path, last


def dict_beside_that_of_a_branch(x: Tensor) -> Any:
    path = [{"k": 0.0}]
    while x.norm() > 1:
        x = x / 2
        path.append({"k": 1.0})
    last = {"k": 2.0}
    if x[0] > 0:
        last = path[-1]
    return path[-1], last


def tensor_in_two_lists(x: Tensor) -> Any:
    path, half = [], []
    while x.norm() > 1:
        x = x / 2
        y = x.abs()
        path.append((y, 1))
        half.append(y)
    return path, half


def list_and_a_copy_of_it(x: Tensor) -> Any:
    path = []
    while x.norm() > 1:
        x = x / 2
        path.append([len(path), 2.0])
    return path, list(path)


def list_and_some_of_its_elements(x: Tensor) -> Any:
    path = []
    while x.norm() > 1:
        x = x / 2
        path.append([len(path), 2.0])
    return path, [one for one in path]


def two_records_of_a_list(x: Tensor) -> Any:
    path = [Record(7)]
    while x.norm() > 1:
        x = x / 2
        path.append(Record(len(path)))
    return path[-1], path[0]


FOR_ONE_PATH = [
    two_records_of_a_list,
    two_dicts_of_a_list,
    dict_beside_that_of_a_branch,
    tensor_in_two_lists,
    list_and_a_copy_of_it,
    list_and_some_of_its_elements,
    two_lists_of_a_list,
    list_of_lists_and_one_from_before,
    dict_by_a_branch,
    list_with_the_argument,
    list_and_its_last,
    list_of_pairs_and_its_last,
    last_is_not_the_argument,
    asked_in_the_trips,
    two_elements_asked,
    pair_asked,
    last_by_two_names,
    argument_of_a_trip,
    chosen_by_a_loop,
    loop_variable_and_list,
    turned_around,
    in_a_dict,
]


@pytest.mark.parametrize("function", FOR_ALL_DATA)
def test_elements_are_the_tensors_of_eager(function: Callable[[Tensor], Any]) -> None:
    compiled: Any = torch.compile(convert(function), fullgraph=True, backend="eager")
    for x in INPUTS:
        assert picture(x, compiled(x)) == picture(x, function(x))


@pytest.mark.parametrize("function", FOR_ONE_PATH)
def test_elements_that_are_followed_on_one_path(function: Callable[[Tensor], Any]) -> None:
    compiled: Any = torch.compile(convert(function), fullgraph=True, backend="eager")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", OnePathWarning)
        for x in INPUTS:
            assert picture(x, compiled(x)) == picture(x, function(x))
    assert any(one.category is OnePathWarning for one in warned)


def test_rows_of_a_tensor_are_copies_in_any_case() -> None:
    def last_that_passes(x: Tensor) -> Tensor:
        kept = [row for row in x if row.sum() > 0]
        return kept[-1] if kept else x.sum(0)

    compiled: Any = torch.compile(convert(last_that_passes), fullgraph=True, backend="eager")
    for shift in (0.0, 0.5, 20.0):
        x = torch.arange(40.0).reshape(20, 2) / 10 - shift
        assert torch.equal(compiled(x), last_that_passes(x))


def test_names_of_the_tracer() -> None:
    assert "graph_outputs" in PyCodegen.__init__.__code__.co_names


def picture(x: Tensor, value: Any) -> Any:
    """What a value holds, and which of its tensors, lists, dicts and records are one, or the argument."""
    known: list[Any] = [x]

    def part(one: Any) -> Any:
        if isinstance(one, Tensor):
            place = next((k for k, other in enumerate(known) if other is one), len(known))
            known.extend([one] if place == len(known) else [])
            return place, one.tolist()
        if not isinstance(one, (list, dict, tuple, Record)):
            return one
        if any(one is other for other in known):
            return f"again {next(k for k, other in enumerate(known) if other is one)}"
        known.extend([] if isinstance(one, tuple) else [one])
        parts = vars(one) if isinstance(one, Record) else one
        items = parts.items() if isinstance(parts, dict) else enumerate(parts)
        return [type(one), *((key, part(item)) for key, item in items)]

    return part(value)
