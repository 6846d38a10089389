"""Gradients that the function itself computes, and that eager Python has for some data only.

    loss = (w * x).sum()
    if loss > 0:
        loss = loss + (v * x).sum()
    loss.backward()                     v.grad is None where the branch is not taken, and an optimizer passes over it

A graph cannot tell None from a tensor, and torch's gradients of a branch that is not taken are zeros. So a leaf that
leads to the loss only through one side of a branch, or through the body of a loop, which may make no trip, is refused:
a graph for the path of one call knows which it is (capture/one_path.py).
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import Storage, arguments_of, given_nodes, is_operator, storage_at, written

Leaves = frozenset[Node]
_NONE: Leaves = frozenset()
_COND, _WHILE = torch.ops.higher_order.cond, torch.ops.higher_order.while_loop


def check_gradients(graph: GraphModule) -> None:
    """Stop at a gradient that is there for some data only.

    Raises:
        CaptureError: AG320, at the line that computes it.
    """
    if not any(map(is_operator, graph.graph.nodes)):
        return
    for node in graph.graph.find_nodes(op="call_function", target=torch.autograd.grad):
        losses, leaves = given_nodes(node, 0, "outputs"), given_nodes(node, 1, "inputs")
        at_times, always = (_leading(graph, leaves, losses, whatever) for whatever in (False, True))
        if at_times - always:
            raise capture_error_at(
                node,
                "AG320",
                "whether there is a gradient depends on data: eager Python has None where nothing leads to the loss",
                "let all paths lead to it: add `0.0 * parameter.sum()`",
            )


def _leading(graph: GraphModule, leaves: list[Node], losses: list[Node], always: bool) -> Leaves:
    """The leaves that operations lead from to one of the losses: for some data, or `always`."""
    found = _Leading(graph, {leaf: frozenset((leaf,)) for leaf in leaves}, always)
    return _NONE.union(*(found.of(loss) for loss in losses))


class _Leading:
    """The leaves that lead to each node of a graph, for some data or `always`."""

    def __init__(self, graph: GraphModule, begin: dict[Node, Leaves], always: bool) -> None:
        self._graph = graph
        self._always = always
        self._nodes = dict(begin)
        self._written: dict[Storage | None, Leaves] = {}
        self._results: dict[Node, list[Leaves]] = {}  # of operators with bodies
        for node in graph.graph.nodes:
            self._look_at(node)

    def of(self, node: Any) -> Leaves:
        """The leaves that lead to what is in a node, or to what has been written to its memory."""
        if not isinstance(node, Node):
            return _NONE
        return self._nodes.get(node, _NONE) | self._written.get(storage_at(node), _NONE)

    def _look_at(self, node: Node) -> None:
        if node.target in (_COND, _WHILE):
            of_operator = self._of_branches if node.target is _COND else self._of_loop
            self._results[node] = results = of_operator(*node.args)
            found = _NONE.union(*results)
        elif node.target is operator.getitem and node.args[0] in self._results:
            found = self._results[node.args[0]][node.args[1]]  # type: ignore[index]
        else:
            found = _NONE.union(*map(self.of, node.all_input_nodes))
        if _records(node):
            self._nodes[node] = self._nodes.get(node, _NONE) | found
        for target in written(node):
            storage = storage_at(target)
            self._written[storage] = self._written.get(storage, _NONE) | found

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
        inside = _Leading(graph, begin, self._always)
        (output,) = graph.graph.find_nodes(op="output")
        results: Any = arguments_of(output)[0]
        return [inside.of(one) for one in (results if isinstance(results, (list, tuple)) else (results,))]


def _records(node: Node) -> bool:
    """Whether a gradient may go through it."""
    value = node.meta.get("example_value")
    return not isinstance(value, torch.Tensor) or value.requires_grad
