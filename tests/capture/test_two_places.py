"""Objects that a branch makes, and that stand in two places when the call ends, are one object as in eager."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, autograph
from autograph_torch.capture import compiling
from tests.harness import vec


class Node:
    def __init__(self, value: Any) -> None:
        self.value = value
        self.hits = 0


@dataclass(frozen=True)
class Rate:
    lr: float = 0.1


def _world() -> Any:
    nodes = [Node(1.0)]
    return types.SimpleNamespace(nodes=nodes, best=nodes[0], log=[], table={}, rate=Rate(), kept=[])


def kept_and_appended(w: Any, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        w.best = Node(5.0)
        w.nodes.append(w.best)
    return x


def written_to_in_the_next_call(w: Any, x: torch.Tensor) -> torch.Tensor:
    w.best.hits += 1
    if x.sum() > 0:
        w.best = Node(5.0)
        w.nodes.append(w.best)
    return x


def row_in_a_list_and_a_dict(w: Any, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        row = [x]
        w.log.append(row)
        w.table["row"] = row
    return x


def one_on_one_side_only(w: Any, x: torch.Tensor) -> Any:
    if x.sum() > 0:
        row = [x]
        rows = [row, row]
    else:
        row = [x * 2]
        rows = [row, [x]]
    return row, rows


def others_on_the_other_side(w: Any, x: torch.Tensor) -> Any:
    if x.sum() > 0:
        node = Node(x)
        w.best, w.nodes, given = node, [node], node
    else:
        node = Node(x * 2)
        w.best, w.nodes = node, [Node(x)]
        given = w.nodes[0]
    return given


def inside_of_another(w: Any, x: torch.Tensor) -> Node:
    outer = Node(0.0)
    if x.sum() > 0:
        inner = Node(1.0)
        outer.value = inner
        w.best = inner
    return outer


def given_and_kept(w: Any, x: torch.Tensor) -> Any:
    node = None
    if x.sum() > 0:
        node = Node(1.0)
        w.table["node"] = node
    return node


def row_or_the_log(w: Any, x: torch.Tensor) -> Any:
    if x.sum() > 0:
        given = [x]
        w.log.append(given)
    else:
        given = w.log
    return given


def three_places(w: Any, x: torch.Tensor) -> Any:
    if x.sum() > 0:
        given = {"x": x}
        w.table["a"], w.table["b"] = given, given
    else:
        given = {"x": x * 3}
        w.table["a"], w.table["b"] = given, {"x": x}
    return given


def frozen_one_of_before(w: Any, x: torch.Tensor) -> Any:
    w.kept.append(w.rate)
    if x.sum() > 0:
        w.rate = replace(w.rate, lr=w.rate.lr / 2)
    return w.rate


def frozen_one_in_an_object(w: Any, x: torch.Tensor) -> Any:
    if x.sum() > 0:
        w.rate = replace(w.rate, lr=w.rate.lr / 2)
        w.kept.append(Node(w.rate))
    return w.rate


def one_in_a_branch_of_a_branch(w: Any, x: torch.Tensor) -> Any:
    """Two objects on the path of two, whatever an inner branch has made one."""
    if x[0] > 1:
        first = Node(x)
        second = first
    else:
        first, second = Node(x), Node(x * 3)
    if x.sum() > 0:
        w.best, w.nodes = first, [second]
    else:
        w.best, w.nodes = second, [second]
    return first


def looked_at_before_the_end(w: Any, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        first = [x]
        second = first
    else:
        first, second = [x], [x]
    w.log, w.table["row"] = first, second
    return x * (len(first) + len(second))


def in_an_elif(w: Any, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 4:
        w.log.append(1.0)
    elif x.sum() > 0:
        w.best = Node(5.0)
        w.nodes.append(w.best)
    return x


def in_both_ways_of_an_inner_branch(w: Any, x: torch.Tensor) -> Any:
    if x.sum() > 0:
        if x[0] > 1:
            row = [x]
            w.table["row"] = row
        else:
            row = [x * 2]
            w.table["row"] = row
        w.best = row
    return x


def in_a_loop(w: Any, x: torch.Tensor) -> torch.Tensor:
    while x.sum() > 1:
        x = x / 2
        w.best = Node(5.0)
        w.table["best"] = w.best
    return x


def left_by_a_loop(w: Any, x: torch.Tensor) -> Any:
    given, last = [x], None
    while x.sum() > 1:
        x = x / 2
        given = [x]
        last = given
    return given, last


def row_of_an_inner_branch(w: Any, x: torch.Tensor) -> Any:
    given = None
    if x.sum() > 0:
        if x[0] > 1:
            row = [x]
        else:
            row = [x * 2]
        w.log.append(row)
        given = row
    return given


def best_so_far(w: Any, x: torch.Tensor) -> Node:
    node = Node(x.sum())
    if node.value > w.best.value:
        w.best = node
    return node


def accepted_or_not(w: Any, x: torch.Tensor) -> Any:
    before, node = w.best, Node(x.sum())
    if node.value > before.value:
        w.best = node
    w.log.append(before)
    return node, w.best.value


def in_one_place_or_another(w: Any, x: torch.Tensor) -> torch.Tensor:
    node = Node(x)
    if x.sum() > 0:
        w.table["a"] = node
    else:
        w.table["b"] = node
    node.hits = 1
    return x


def in_a_new_one_or_not(w: Any, x: torch.Tensor) -> Any:
    node = Node(x)
    outer = Node(node) if x.sum() > 0 else Node(w.best)
    w.log.append(outer)
    return node


def given_or_the_best(w: Any, x: torch.Tensor) -> Any:
    node = {"x": x}
    w.log.append(node)
    return node if x.sum() > 0 else w.best


def made_in_the_branch_or_before(w: Any, x: torch.Tensor) -> Any:
    node = Node(x)
    if x.sum() > 0:
        made = Node(x * 2)
        w.best, w.table["made"] = made, made
    else:
        w.table["made"] = node
    return node


def frozen_one_made_before(w: Any, x: torch.Tensor) -> torch.Tensor:
    rate = replace(w.rate, lr=w.rate.lr / 2)
    w.kept.append(w.rate)
    if x.sum() > 0:
        w.rate = rate
    return x


def only_read_in_its_first_place(w: Any, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        node = Node(x)
        first, second, third = node, node, node
    else:
        first, second, third = Node(x * 2), Node(x), Node(x)
    w.best, w.table["third"] = second, third
    return x * first.value


def one_of_three(w: Any, x: torch.Tensor) -> Any:
    first, second = Node(x), Node(x * 2)
    if x.sum() > 4:
        w.best = first
    elif x.sum() > 0:
        w.best = second
    return first, second


FUNCTIONS = [
    best_so_far,
    accepted_or_not,
    in_one_place_or_another,
    in_a_new_one_or_not,
    given_or_the_best,
    made_in_the_branch_or_before,
    frozen_one_made_before,
    only_read_in_its_first_place,
    kept_and_appended,
    written_to_in_the_next_call,
    row_in_a_list_and_a_dict,
    one_on_one_side_only,
    others_on_the_other_side,
    inside_of_another,
    given_and_kept,
    row_or_the_log,
    three_places,
    frozen_one_of_before,
    frozen_one_in_an_object,
    one_in_a_branch_of_a_branch,
    looked_at_before_the_end,
    row_of_an_inner_branch,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_one_object_stays_one(function: Callable[..., Any], backend: str) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend=backend)
    plain, own = _world(), _world()
    for number in (3.0, -1.0, 2.0, 0.4, -2.0):
        expected = _shown((function(plain, vec(number, number)), plain), {})
        assert _shown((fast(own, vec(number, number)), own), {}) == expected


FOLLOWED = [in_an_elif, one_of_three, in_both_ways_of_an_inner_branch, in_a_loop, left_by_a_loop]


@pytest.mark.parametrize("function", FOLLOWED)
@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
def test_one_object_stays_one_on_its_path(function: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend="eager")
    plain, own = _world(), _world()
    for number in (3.0, -1.0, 0.7, 0.2, -2.0):
        expected = _shown((function(plain, vec(number, number)), plain), {})
        assert _shown((fast(own, vec(number, number)), own), {}) == expected


@pytest.mark.parametrize("function", FOLLOWED)
def test_no_graph_for_all_data_has_two_for_one(function: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match="AG314 .* (the call leaves it in both|the graph has a copy)"):
        autograph(function, backend="eager")(_world(), vec(3.0, 3.0))


def test_two_are_left_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they no longer are, capture/two_places.py has nothing to do."""
    kept = tuple(one for one in compiling._REPAIRS if one.__name__ != "one_behind_the_graph")
    assert len(kept) == len(compiling._REPAIRS) - 1
    monkeypatch.setattr(compiling, "_REPAIRS", kept)
    torch._dynamo.reset()
    w = _world()
    autograph(kept_and_appended, backend="eager")(w, vec(3.0))
    assert w.best is not w.nodes[-1]


def _shown(item: Any, seen: dict[int, tuple[int, Any]]) -> str:
    """A value with a number for each object, so that one object in two places shows."""
    if isinstance(item, torch.Tensor):
        return str(item.tolist())
    if isinstance(item, (int, float, str, type(None))):
        return repr(item)
    if isinstance(item, tuple):
        return str([_shown(one, seen) for one in item])
    if id(item) in seen:
        return f"<{seen[id(item)][0]}>"
    seen[id(item)] = len(seen), item
    if isinstance(item, list):
        return f"#{len(seen)}{[_shown(one, seen) for one in item]}"
    parts = item if isinstance(item, dict) else vars(item)
    return f"{type(item).__name__}#{len(seen)}{ {name: _shown(one, seen) for name, one in parts.items()} }"
