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

import torch
from torch.fx import GraphModule, Node

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import given_nodes, is_operator
from autograph_torch.capture.leading import NONE, Leading, Leaves


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
    found = Leading(graph, {leaf: frozenset((leaf,)) for leaf in leaves}, always)
    return NONE.union(*(found.of(loss) for loss in losses))
