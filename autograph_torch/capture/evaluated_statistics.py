"""A BatchNorm that is evaluated, and then trained, before the gradient of what it has evaluated is computed.

    bn.eval(); y = bn(x)         eager's backward reads the running statistics as they are then: bn(z) has written to
    bn.train(); z = bn(z)        them, which autograd does not notice, for no version is counted there
    (y + z).sum().backward()     A graph takes those that `y` was made with: other gradients, without a word

So that is refused, also where a branch or loop does the one or the other. (Other writes to the statistics in between
are errors in eager.)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import (
    Storage,
    arguments_of,
    given_by_name,
    has_gradient,
    is_operator,
    name_of,
    operator_behind,
    storage_at,
    written,
)

_STATISTICS = ("running_mean", "running_var")
_TRAINS = ("training", "use_input_stats")


def check_statistics(graph: GraphModule) -> None:
    """Stop at the training behind the evaluation.

    Raises:
        CaptureError: AG320, at its line.
    """
    graphs = [inner for inner in graph.modules() if isinstance(inner, GraphModule)]
    if any(_is_normalisation(node) for inner in graphs for node in inner.graph.nodes):
        for inner in graphs:
            _check_order(inner)


def _check_order(graph: GraphModule) -> None:
    evaluated: dict[Storage | None, set[Node]] = {}  # and by what
    for node in graph.graph.nodes:
        if node.target is torch.autograd.grad:
            evaluated.clear()
        elif any(evaluated.get(storage_at(one), set()) - _one_side(node) for one in _trained(node)):
            what = "running statistics are written to that a gradient still needs: eager reads what they have become"
            advice = "compute the gradient of what has been evaluated first, or evaluate in `torch.no_grad()`"
            raise capture_error_at(node, "AG320", what, advice)
        for one in _evaluated(node, graph):
            evaluated.setdefault(storage_at(_copied(one)), set()).add(node)


def _trained(node: Node) -> list[Node]:
    """What a normalisation writes to, or what is written back of what a branch or loop was given."""
    return written(node) if _is_normalisation(node) or operator_behind(node) is not None else []


def _one_side(write: Node) -> set[Node]:
    """The branch whose result is written back, of which either side runs; a loop may train in a later trip."""
    operator = operator_behind(write)
    return {operator} if operator is not None and name_of(operator) == "cond" else set()


def _copied(node: Node) -> Node:
    """What is handed to a body as a copy."""
    while name_of(node) in ("clone", "detach") and node.all_input_nodes:
        node = node.all_input_nodes[0]
    return node


def _evaluated(node: Node, module: GraphModule) -> list[Node]:
    """The statistics of a graph that a node evaluates where gradients are recorded, by itself or in its bodies."""
    if _is_normalisation(node):
        given = given_by_name(node)
        trains = any(given.get(name) is True for name in _TRAINS)
        found = [] if trains or not has_gradient(node) else [given.get(name) for name in _STATISTICS]
        return [one for one in found if isinstance(one, Node)]
    if not is_operator(node):
        return []
    bodies = [module.get_submodule(str(one.target)) for one in arguments_of(node) if _is_body(one)]
    outer = [one for part in arguments_of(node) if isinstance(part, (list, tuple)) for one in part]
    return [one for body in bodies if isinstance(body, GraphModule) for one in _from_around(body, outer)]


def _from_around(body: GraphModule, operands: list[Any]) -> list[Node]:
    """The operands that the statistics come from which a body evaluates."""
    around = dict(zip(body.graph.find_nodes(op="placeholder"), operands, strict=False))
    waiting = [one for inner in body.graph.nodes for one in _evaluated(inner, body)]
    seen: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += node.all_input_nodes  # a body that writes has a copy of its own
    return [around[node] for node in seen if isinstance(around.get(node), Node)]


def _is_normalisation(node: Node) -> bool:
    return node.op == "call_function" and name_of(node) in ("batch_norm", "instance_norm")


def _is_body(argument: Any) -> bool:
    return isinstance(argument, Node) and argument.op == "get_attr"
