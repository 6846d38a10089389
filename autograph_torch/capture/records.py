"""Which results of a graph record a gradient, where data decide: Python detaches the others.

    if p:                       in eager the result requires a gradient where p;
        y = w * x               the operator's result requires one whatever p is, and `backward()` of it gives zeros
    else:
        y = x * 2
    return y + 1

What a result depends on shows in the finished graph: on something that requires a gradient, for all data, or where the
body of a branch that has read it is the one that runs, or where a loop has made a trip. (What the trips of a loop give
is taken to record one where anything in the loop does.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch.fx import Node

from autograph_torch.capture.graph_writes import arguments_of, before_anchor, name_of, storage_at, written
from autograph_torch.capture.origins import Branches, Flag, Level, hides_value, result_of

Cause = int | None  # in a body: an operand, by its position; None: what requires a gradient for all data
Causes = dict[Cause, Flag]

_ALWAYS: Causes = {None: True}


def records_gradient(level: Level, result: Node) -> Flag:
    """Whether a result of the outermost graph records a gradient."""
    inputs: dict[Node, Cause] = {node: None for node in level.inputs if _may_record(node)}
    return level.either(list(_Records(level, inputs).causes(result).values()))


@dataclass
class _Records:
    """One graph: on which inputs its tensors depend by what records gradients, and when.

    inputs: those that may require a gradient, and what each is outside.
    """

    level: Level
    inputs: dict[Node, Cause]
    known: dict[Node, Causes] = field(default_factory=dict)

    def causes(self, node: Node) -> Causes:
        """By what a tensor depends on: when it does."""
        for one in _needed(node, self.known):
            self.known[one] = self._causes(one)
        return self.known[node]

    def _causes(self, node: Node) -> Causes:
        if not _may_record(node):
            return {}
        if node.op == "placeholder":
            return {self.inputs[node]: True} if node in self.inputs else {}
        if node.op == "get_attr":
            return _ALWAYS if isinstance(node.meta.get("example_value"), torch.Tensor) else {}
        if self._is_written(node) or node.op == "call_module":
            return _ALWAYS
        unanchored, result = before_anchor(node), result_of(node)
        if unanchored is not node or hides_value(node):
            return self.known[unanchored if unanchored is not node else arguments_of(node)[1]]
        if result is not None:
            return self._of_branch(*result) if name_of(result[0]) == "cond" else self._of_loop(node)
        is_made = isinstance(node.meta.get("example_value"), torch.Tensor)
        return self._merged(self.known[one].items() for one in node.all_input_nodes) or (_ALWAYS if is_made else {})

    def _of_branch(self, operator: Node, position: int) -> Causes:
        branches, operands = Branches(self.level, operator), arguments_of(operator)[3]
        around = [self.known[one] if isinstance(one, Node) else {} for one in operands]
        told = [_of_body(body, position, around) for body in branches.bodies()]
        found: list[tuple[Cause, Flag]] = []
        for cause in dict.fromkeys((*told[0], *told[1])):
            runs = branches.tells([one.get(cause, False) for one in told])
            causes = _ALWAYS if cause is None else around[cause]
            found += [(one, self.level.both([runs, flag])) for one, flag in causes.items()]
        return self._merged([found])

    def _of_loop(self, node: Node) -> Causes:
        entered, _, begin = arguments_of(node) if name_of(node) == "where" else (None, None, None)
        if entered is None or self._is_written(entered):  # there has been a trip, or nobody knows
            return _ALWAYS
        return self._merged([[(None, entered)], self.known[before_anchor(begin)].items()])

    def _merged(self, parts: Iterable[Iterable[tuple[Cause, Flag]]]) -> Causes:
        flags: dict[Cause, dict[Flag, None]] = {}
        for cause, flag in (one for part in parts for one in part):
            flags.setdefault(cause, {})[flag] = None
        found = {cause: self.level.either(list(those)) for cause, those in flags.items()}
        return _ALWAYS if found.get(None) is True else {one: flag for one, flag in found.items() if flag is not False}

    def _is_written(self, node: Node) -> bool:
        return storage_at(node) is not None and storage_at(node) in self._written

    @cached_property
    def _written(self) -> set[Any]:
        """The memory that the graph writes to: one node does not tell what it holds, and records."""
        return {storage_at(one) for node in self.level.graph.nodes for one in written(node)}


def _of_body(body: Level, position: int, operands: list[Causes]) -> Causes:
    """On which operands of a torch.cond a result of a body depends, and when."""
    inputs: dict[Node, Cause] = {}
    for place, (given, causes) in enumerate(zip(body.inputs, operands, strict=True)):
        if causes and not _may_record(given):
            return _ALWAYS  # as far as the body tells
        if causes:
            inputs[given] = None if causes.get(None) is True else place
    (results,) = arguments_of(body.output)
    return _Records(body, inputs).causes(results[position])


def _needed(node: Node, known: dict[Node, Causes]) -> list[Node]:
    """A node and all that it is computed from, in the order of the graph."""
    needed, waiting = set(), [node]
    while waiting:
        one = waiting.pop()
        if one not in needed and one not in known:
            needed.add(one)
            waiting += one.all_input_nodes
    return sorted(needed)


def _may_record(node: Node) -> bool:
    """Whether a node is a tensor that requires a gradient, or nothing of which that is known."""
    value = node.meta.get("example_value")
    return value.requires_grad if isinstance(value, torch.Tensor) else True
