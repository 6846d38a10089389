"""Which leaves lead to the nodes of a graph by operations that record a gradient: for some data, or whatever they are.

if p:
    loss = loss + (v * x).sum()        `w` leads to the loss that follows always, `v` for some data
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from autograph_torch.capture.graph_writes import Storage, arguments_of, storage_at, written

Leaves = frozenset[Node]
NONE: Leaves = frozenset()
_COND, _WHILE = torch.ops.higher_order.cond, torch.ops.higher_order.while_loop


class Leading:
    """The leaves that lead to each node of a graph, for some data or `always`."""

    def __init__(self, graph: GraphModule, begin: dict[Node, Leaves], always: bool) -> None:
        self._graph = graph
        self._always = always
        self._nodes = dict(begin)
        self._bodies: dict[str, Leading] = {}
        self._written: dict[Storage | None, Leaves] = {}
        self._results: dict[Node, list[Leaves]] = {}  # of operators with bodies
        for node in graph.graph.nodes:
            self._look_at(node)

    def everywhere(self) -> Iterator[tuple[Node, Leaves]]:
        """All nodes of the graph and of the bodies in it, with what leads to them; of a loop as all trips have it."""
        for node in self._graph.graph.nodes:
            yield node, self.of(node)
        for inside in self._bodies.values():
            yield from inside.everywhere()

    def of(self, node: Any) -> Leaves:
        """The leaves that lead to what is in a node, or to what has been written to its memory."""
        if not isinstance(node, Node):
            return NONE
        return self._nodes.get(node, NONE) | self._written.get(storage_at(node), NONE)

    def _look_at(self, node: Node) -> None:
        if node.target in (_COND, _WHILE):
            of_operator = self._of_branches if node.target is _COND else self._of_loop
            self._results[node] = results = of_operator(*node.args)
            found = NONE.union(*results)
        elif node.target is operator.getitem and node.args[0] in self._results:
            found = self._results[node.args[0]][node.args[1]]  # type: ignore[index]
        else:
            found = NONE.union(*map(self.of, node.all_input_nodes))
        if _records(node):
            self._nodes[node] = self._nodes.get(node, NONE) | found
        for target in written(node):
            storage = storage_at(target)
            self._written[storage] = self._written.get(storage, NONE) | found

    def _of_branches(self, _: Any, if_true: Any, if_false: Any, operands: Any) -> list[Leaves]:
        sides = [self._through(branch, [self.of(one) for one in operands]) for branch in (if_true, if_false)]
        return [a & b if self._always else a | b for a, b in zip(*sides, strict=True)]

    def _of_loop(self, _: Any, body: Any, carries: Any, operands: Any) -> list[Leaves]:
        """What leads to the carries after any number of trips."""
        found, before = [self.of(one) for one in carries], None
        while found != before:
            before = found
            trip = self._through(body, [*found, *(self.of(one) for one in operands)])
            found = [a & b if self._always else a | b for a, b in zip(found, trip, strict=True)]
        return found

    def _through(self, body: Node, given: list[Leaves]) -> list[Leaves]:
        """What leads to the results of a body."""
        graph: Any = self._graph.get_submodule(str(body.target))
        begin = dict(zip(graph.graph.find_nodes(op="placeholder"), given, strict=True))
        self._bodies[str(body.target)] = inside = Leading(graph, begin, self._always)
        (output,) = graph.graph.find_nodes(op="output")
        results: Any = arguments_of(output)[0]
        return [inside.of(one) for one in (results if isinstance(results, (list, tuple)) else (results,))]


def _records(node: Node) -> bool:
    """Whether a gradient may go through it."""
    value = node.meta.get("example_value")
    return not isinstance(value, torch.Tensor) or value.requires_grad
