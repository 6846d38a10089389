"""Results that are views of one tensor that a branch has made: the branch gives this tensor, too.

    if p:
        k, v = (x * 2).chunk(2)        torch.cond gives a copy of each; here also `x * 2`, of which Python has views
        w.cache = k, v                 in their places (capture/given_back.py)

Of a trip of a loop, of integers and of sizes that are not known there is no graph for all data (AG314).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import is_concrete_int

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import Storage, arguments_of, name_of, storage_at
from autograph_torch.capture.operator_results import result_of
from autograph_torch.capture.origins import Branches, Finder, Level, before_view
from autograph_torch.runtime.memories import STAND_IN_OF

_MESSAGE = "the function gives back two views of one tensor that a branch or loop has made"


def hand_out_roots(finder: Finder, results: list[Node]) -> list[Node]:
    """Let the branches of a graph give what several results are views of; all such tensors of the outermost graph."""
    for node, branches, body, root in _inside(finder.outermost, results):
        if branches is None or not _can_be_given(root):
            raise capture_error_at(node, "AG314", _MESSAGE, "give back a copy of one (`.clone()`)")
        branches.hand_out_tensor(body, root)
    return _outside(finder.outermost, results)


def roots_given(module: GraphModule) -> dict[Graph, frozenset[Storage]]:
    """What the graphs of a module will give so: it has to be as the results are (capture/shared_results.py)."""
    level, found = Finder(module).outermost, defaultdict[Graph, set[Storage | None]](set)
    results = [one for one in arguments_of(level.output)[0] if storage_at(one) is not None]
    for _, _, body, root in _inside(level, results):
        found[body.graph].add(storage_at(root))
    found[level.graph] |= set(map(storage_at, _outside(level, results)))
    return {graph: frozenset(one for one in storages if one is not None) for graph, storages in found.items()}


def _outside(level: Level, results: list[Node]) -> list[Node]:
    """Results that lie in one memory are views of one another already."""
    roots = _common(level, results)
    return [root for root, those in roots.items() if len({storage_at(one) for one in those}) > 1]


def _inside(level: Level, tensors: Iterable[Node]) -> Iterator[tuple[Node, Branches | None, Level, Node]]:
    """What tensors of one graph are views of, in the bodies of its operators: with the operator, and the body.

    Of a torch.cond also its branches.
    """
    for node, places in _operators(tensors).items():
        branches = Branches(level, node) if name_of(node) == "cond" else None
        for body in branches.bodies() if branches is not None else [level.loop(node).body()]:
            given = [one for one in map(body.given, places) if one is not None]
            yield from _inside(body, given)
            for root in _common(body, given):
                yield node, branches, body, root


def _operators(tensors: Iterable[Node]) -> dict[Node, list[int]]:
    """The operators whose results tensors are, or are views of: with the places of these results."""
    found: dict[Node, list[int]] = {}
    for node in dict.fromkeys(tensors):
        while (before := before_view(node)) is not None:
            node = before.root
        result = result_of(node)
        if result is not None and result[1] not in found.setdefault(result[0], []):
            found[result[0]].append(result[1])
    return found


def _common(level: Level, given: list[Node]) -> dict[Node, list[Node]]:
    """What a graph has made, and several of what it gives may be views of, with these; it does not give it itself."""
    roots: dict[Node, list[Node]] = {}
    for one in given:
        for root in dict.fromkeys(origin.root for origin in level.origins(one)):
            roots.setdefault(root, []).append(one)
    return {root: those for root, those in roots.items() if len(those) > 1 and root not in given and _is_made(root)}


def _is_made(root: Node) -> bool:
    return root.op not in ("placeholder", "get_attr") and STAND_IN_OF not in root.meta and storage_at(root) is not None


def _can_be_given(root: Node) -> bool:
    value: torch.Tensor = root.meta["example_value"]
    return value.is_floating_point() and all(map(is_concrete_int, value.shape))
