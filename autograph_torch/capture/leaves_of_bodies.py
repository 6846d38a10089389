"""What the bodies of an operator give, and a loop carries: their leaves, before our copies of them.

body: ...; reshape(reshape(y).clone())     y, of which runtime/codec.py has made what the operator gives
while_loop(..., (clone(x), ...))           x, with which the loop begins
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch.fx import GraphModule, Node

from autograph_torch.capture.graph_writes import arguments_of, before_anchor, is_operator, name_of
from autograph_torch.runtime.reordering import is_reordered


def copied(leaf: Any) -> Node | None:
    """What our own copy of a leaf was made of (runtime/codec.py); None for what is no such copy."""
    node, changed = leaf, []
    while isinstance(node, Node) and name_of(node) in ("view", "to", "reshape"):
        changed.append(name_of(node))
        node = arguments_of(node)[0] if node.args else None
    if not isinstance(node, Node) or name_of(node) != "clone" or not node.args:
        return None
    whole = arguments_of(node)[0]
    whole = arguments_of(whole)[0] if name_of(whole) == "reshape" and "reshape" in changed else whole
    return arguments_of(whole)[0] if is_reordered(whole) else whole  # type: ignore[no-any-return]


def leaves_of(operator: Node, index: int, modules: Any) -> list[Node]:
    """What the bodies of an operator give as one of its results, and a loop begins with.

    modules: the graphs of bodies by their names.
    """
    leaves = [result_at(body, index) for body in bodies_of(operator, modules)]
    if name_of(operator) != "cond":
        leaves.append(arguments_of(operator)[2][index])
    return [_before_our_copy(leaf) for leaf in leaves if isinstance(leaf, Node)]


def bodies_of(operator: Node, modules: Any) -> list[GraphModule]:
    """The graphs of the branches of a torch.cond, or of the trips of a torch.while_loop."""
    bodies = arguments_of(operator)[1:3] if name_of(operator) == "cond" else arguments_of(operator)[1:2]
    return [modules[str(one.target)] for one in bodies]


def result_at(body: GraphModule, index: int) -> Any:
    """One of the results of a graph."""
    return arguments_of(body.graph.output_node())[0][index]


def carries(module: GraphModule) -> Iterator[tuple[Node, list[Node]]]:
    """What trips of all loops are given of what they carry; with what the loop begins with, and what a trip gives."""
    for graph in (one for one in module.modules() if isinstance(one, GraphModule)):
        modules = dict(graph.named_children())
        for loop in (node for node in graph.graph.nodes if is_operator(node) and name_of(node) != "cond"):
            (body,) = bodies_of(loop, modules)
            given = body.graph.find_nodes(op="placeholder")
            for index in range(len(arguments_of(loop)[2])):
                yield given[index], leaves_of(loop, index, modules)


def input_of(node: Node) -> Node | None:
    """The input of a body that a node is, as the program has it there: a copy, with its dimensions in their order."""
    node = arguments_of(node)[0] if is_reordered(node) else node
    if name_of(node) == "clone" and node.args and not node.kwargs:
        node = arguments_of(node)[0]
    return node if node.op == "placeholder" else None


def _before_our_copy(leaf: Node) -> Node:
    leaf = before_anchor(leaf)
    return before_anchor(copied(leaf) or leaf)
