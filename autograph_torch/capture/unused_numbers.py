"""A number that nobody uses is computed all the same where Python may refuse it.

    try:
        int(x.sum())                    torch erases numbers without users from its graphs, and so does each compiler
    except ValueError:                  of them: here a check of the graph uses what may raise
        return x * 0

Private: OutputGraph.remove_unused_graphargs. tests/capture/test_unused_numbers.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.output_graph import OutputGraph
from torch.fx import Graph, Node

from autograph_torch.capture.arithmetic import can_fail, is_arithmetic
from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def unused_numbers() -> Iterator[None]:
    """While this is in force, numbers that may raise are used."""
    remove = OutputGraph.remove_unused_graphargs

    def keep_and_remove(self: Any) -> None:
        for node in _unused(self.graph):
            _use(node, self.fake_mode)
        remove(self)

    with patched(OutputGraph, remove_unused_graphargs=keep_and_remove):
        yield


def _unused(graph: Graph) -> list[Node]:
    """Numbers that may raise, and that at most other numbers are made of that nobody uses."""
    found, dead = [], set()
    for node in reversed(list(graph.nodes)):
        if not all(user in dead for user in node.users):
            continue
        if can_fail(node):
            found.append(node)
        elif is_arithmetic(node):
            dead.add(node)
    return found


def _use(number: Node, fake_mode: Any) -> None:
    """Check of a number what holds of each."""
    graph, before = number.graph, number.next
    with graph.inserting_before(before):
        flag = graph.call_function(torch.scalar_tensor, (number,), {"dtype": torch.bool})
        other = graph.call_function(torch.logical_not, (flag,))
        either = graph.call_function(torch.logical_or, (flag, other))
        check = graph.call_function(torch._assert_async, (either, "a number is true or false"))
    for node in (flag, other, either):
        with fake_mode:
            node.meta["example_value"] = torch.empty((), dtype=torch.bool)
    check.meta["example_value"] = None
    for node in (flag, other, either, check):
        node.meta["stack_trace"] = number.meta.get("stack_trace")
