"""Dicts of the caller that are written back as a whole: in the order that they have in each call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import autograph
from tests.harness import check_any_graph, program, torch_before, vec

Table = dict[str, Any]


def _doubled(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        x = x * 2
    return x


def put_back(table: Table, x: torch.Tensor) -> torch.Tensor:
    value = table.pop("a")
    table["a"] = value
    return _doubled(x)


def put_back_in_a_branch(table: Table, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        value = table.pop("a")
        table["a"] = value
    return x


def deleted(table: Table, x: torch.Tensor) -> torch.Tensor:
    del table["a"]
    return _doubled(x)


def last_taken(table: Table, x: torch.Tensor) -> Any:
    key, _ = table.popitem()
    return _doubled(x), key


def set_anew(table: Table, x: torch.Tensor) -> torch.Tensor:
    table["new"] = x
    return _doubled(x)


def updated(table: Table, x: torch.Tensor) -> torch.Tensor:
    table.update(a=5, q=2)
    return _doubled(x)


def joined(table: Table, x: torch.Tensor) -> torch.Tensor:
    table |= {"a": x}
    return _doubled(x)


def moved(table: Any, x: torch.Tensor) -> torch.Tensor:
    table.move_to_end("a")
    return _doubled(x)


def moved_in_a_branch(table: Any, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        table.move_to_end("a")
    return x


def moved_to_the_front(table: Any, x: torch.Tensor) -> torch.Tensor:
    table.move_to_end("a", last=False)
    return _doubled(x)


def first_taken(table: Any, x: torch.Tensor) -> Any:
    key, value = table.popitem(last=False)
    table[key] = value
    return _doubled(x), key


def least_recently_used(table: Any, x: torch.Tensor) -> Any:
    if "a" in table:
        table.move_to_end("a")
    table[f"n{len(table)}"] = x
    while len(table) > 4:
        table.popitem(last=False)
    return _doubled(x), table.get("a", 0)


OF_DICTS = [put_back, put_back_in_a_branch, deleted, last_taken, set_anew, updated, joined]
OF_ORDERED = [moved, moved_in_a_branch, moved_to_the_front, first_taken, least_recently_used]
CASES = [(dict, one) for one in OF_DICTS] + [(OrderedDict, one) for one in (*OF_DICTS, *OF_ORDERED)]


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize(("kind", "function"), CASES, ids=lambda one: one.__name__)
def test_in_the_order_of_each_call(kind: Callable[..., Any], function: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend="eager")
    plain, table = kind(a=1, b=2, c=3), kind(a=1, b=2, c=3)
    for n, number in enumerate((3.0, -3.0, 2.0, 1.0, -2.0)):
        for one in (plain, table):
            _change(one, n)
        expected = f"{function(plain, vec(number))} {plain}"
        assert f"{fast(table, vec(number))} {table}" == expected


def _change(table: Any, n: int) -> None:
    """What the caller does before a call: another key, or other orders."""
    table.setdefault("a", 9)
    if n == 1:
        table["z"] = 7
    if n == 2:
        table["b"] = table.pop("b", 0)
    if n == 3:
        table["a"] = table.pop("a")
        if isinstance(table, OrderedDict):
            table.move_to_end("c" if "c" in table else "a", last=False)


def test_torch_forgets_what_is_moved() -> None:
    """Without this file; where torch learns better, it can go."""
    torch._dynamo.reset()

    def move(table: Any, x: torch.Tensor) -> torch.Tensor:
        table.move_to_end("a")
        return x * 2

    table = OrderedDict(a=1, b=2)
    torch.compile(move, backend="eager", fullgraph=True)(table, vec(1.0))
    assert list(table) == ["a", "b"]


class Flag:
    def __init__(self, value: int) -> None:
        self.value = value

    def __bool__(self) -> bool:
        return self.value > 0


@program(inputs=[lambda k=k: (vec(1, 2), k, Flag(k)) for k in (2, 0, 1)])
def at_which_end(x, k, flag):
    cache = OrderedDict(a=1, b=2, c=3)
    first = cache.popitem(last=k > 1)
    cache.move_to_end("b", last=k > 0)
    return x, first, list(cache), cache.popitem(k), OrderedDict(a=1, b=2).popitem(flag)


@program(inputs=[lambda x=x: (vec(x, 2),) for x in (1, -1, 2)])
def at_an_end_that_data_tell(x):
    cache = OrderedDict(a=1, b=2, c=3)
    return x, cache.popitem(last=bool(x.sum() > 2)), list(cache)


@torch_before("2.12", "its dicts have other variables")
@pytest.mark.parametrize("tested", [at_which_end, at_an_end_that_data_tell])
def test_at_which_end(tested: Callable[..., Any]) -> None:
    check_any_graph(tested)
