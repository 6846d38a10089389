"""Results that are views of one tensor that a branch has made: the branch gives this tensor, too.

    if p:
        k, v = (x * 2).chunk(2)        torch.cond gives a copy of each; here also `x * 2`, of which Python has views
        w.cache = k, v                 in their places (capture/given_back.py)

Of a trip of a loop, of integers and of sizes that are not known there is no graph for all data (AG314).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import is_concrete_int

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import Storage, arguments_of, name_of, storage_at
from autograph_torch.capture.operator_results import result_of
from autograph_torch.capture.origins import Branches, Finder, Level, before_view
from autograph_torch.runtime.memories import STAND_IN_OF

PAIRS = "pairs"  # a note with an operator: of which results, by position, two may be one tensor at a time
_MESSAGE = "the function gives back two views of one tensor that a branch or loop has made"


@dataclass(frozen=True)
class GivenRoots:
    """Storages of tensors that Python gets so. They have to be as the results are that may be one of them.

    inside: tensors that bodies make, or the outermost graph, of which nothing needs to be behind it otherwise.
    outside: results, around these bodies, that may be one of them: what is written to those, these would not have.
    """

    inside: frozenset[Storage | None]
    outside: frozenset[Storage | None]


@dataclass(frozen=True)
class _Root:
    """What a body makes, and several results of its operator may be views of: these, in the graph around.

    branches: of a torch.cond.
    """

    operator: Node
    branches: Branches | None
    body: Level
    node: Node
    results: tuple[Node, ...]


def hand_out_roots(finder: Finder, results: list[Node]) -> list[Node]:
    """Let the branches of a graph give what several results are views of; all such tensors of the outermost graph."""
    for one in _inside(finder.outermost, results):
        if one.branches is None or not _can_be_given(one.node):
            raise capture_error_at(one.operator, "AG314", _MESSAGE, "give back a copy of one (`.clone()`)")
        one.branches.hand_out_tensor(one.body, one.node)
    return _outside(finder.outermost, results)


def roots_given(module: GraphModule) -> GivenRoots:
    """What the graphs of a module will give so."""
    level = Finder(module).outermost
    results = [one for one in arguments_of(level.output)[0] if storage_at(one) is not None]
    roots = list(_inside(level, results))
    made = [*_outside(level, results), *(one.node for one in roots)]
    around = itertools.chain.from_iterable(one.results for one in roots)
    return GivenRoots(frozenset(map(storage_at, made)), frozenset(map(storage_at, around)))


def _outside(level: Level, results: list[Node]) -> list[Node]:
    """Results that lie in one memory are views of one another already."""
    common = _common(level, results).items()
    return [root for root, those in common if any(storage_at(a) != storage_at(b) for a, b in _one_at_a_time(those))]


def _one_at_a_time(tensors: list[Node]) -> list[tuple[Node, Node]]:
    """Which two may be one tensor at a time: not those of a loop in whose trips they only change places."""
    return [(a, b) for a, b in itertools.combinations(tensors, 2) if _may_be_one(a, b)]


def _may_be_one(one: Node, other: Node) -> bool:
    (maker, place), (other_maker, other_place) = (_result_behind(each) or (None, 0) for each in (one, other))
    if maker is None or maker is not other_maker or place == other_place or PAIRS not in maker.meta:
        return True
    return (min(place, other_place), max(place, other_place)) in maker.meta[PAIRS]


def _inside(level: Level, tensors: list[Node]) -> Iterator[_Root]:
    """What tensors of one graph are views of, in the bodies of its operators."""
    for node, places in _operators(tensors).items():
        branches = Branches(level, node) if name_of(node) == "cond" else None
        for body in branches.bodies() if branches is not None else [level.loop(node).body()]:
            leaves = [(one, result) for place, result in places.items() if (one := body.given(place)) is not None]
            given = [one for one, _ in leaves]
            for inner in _inside(body, given):
                around = [result for one, result in leaves if _leads_to(one, inner.results)]
                yield replace(inner, results=(*inner.results, *around))
            for root, those in _common(body, given).items():
                yield _Root(node, branches, body, root, tuple(result for one, result in leaves if one in those))


def _leads_to(tensor: Node, results: tuple[Node, ...]) -> bool:
    return storage_at(tensor) in map(storage_at, results)


def _operators(tensors: list[Node]) -> dict[Node, dict[int, Node]]:
    """The operators whose results tensors are, or are views of: these results by their places."""
    found: dict[Node, dict[int, Node]] = {}
    for node in map(_before_views, dict.fromkeys(tensors)):
        result = result_of(node)
        if result is not None:
            found.setdefault(result[0], {}).setdefault(result[1], node)
    return found


def _result_behind(node: Node) -> tuple[Node, int] | None:
    """The operator, and the position of the result of it, that a tensor is or is a view of."""
    return result_of(_before_views(node))


def _before_views(node: Node) -> Node:
    while (before := before_view(node)) is not None:
        node = before.root
    return node


def _common(level: Level, given: list[Node]) -> dict[Node, list[Node]]:
    """What a graph has made, and several of what it gives may be views of, with these; it does not give it itself."""
    roots: dict[Node, list[Node]] = {}
    for one in given:
        for root in dict.fromkeys(origin.root for origin in level.origins(one)):
            roots.setdefault(root, []).append(one)
    made = {root: those for root, those in roots.items() if root not in given and _is_made(root)}
    return {root: those for root, those in made.items() if _one_at_a_time(those)}


def _is_made(root: Node) -> bool:
    return root.op not in ("placeholder", "get_attr") and STAND_IN_OF not in root.meta and storage_at(root) is not None


def _can_be_given(root: Node) -> bool:
    value: torch.Tensor = root.meta["example_value"]
    return value.is_floating_point() and all(map(is_concrete_int, value.shape))
