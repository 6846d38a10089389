"""Inputs of a graph that no node uses, but that results may be in eager: Python has them, the backend does not.

    flat = data.view(-1)        both are parts of one copy in the branch, which the graph makes of `data`;
    if p:                       what gives back `flat` itself (capture/given_back.py) has to have it
        data[0] = x
        y = flat

Dynamo drops an input that no node of the outermost graph uses, so a node uses it until the trace ends. The backend is
spared the pains that it takes with inputs of one memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch.fx import Graph, GraphModule, Node

_KEEPS, _KEPT = "autograph_torch_keeps_input", "autograph_torch_kept"  # in the `meta` of the node, and of the input
_SOURCE = "_dynamo_source"  # of an input: where a call finds it


def keep_input(original: Node) -> None:
    """Keep what a stand-in stands for, if it is an input that nothing else uses by now."""
    if original.op == "placeholder" and not original.users and "grapharg" in original.meta:
        *_, last = original.graph.find_nodes(op="placeholder")
        with original.graph.inserting_after(last):  # torch puts more inputs before others
            use = original.graph.call_method("dim", (original,))
        use.meta[_KEEPS] = original.meta[_KEPT] = True


def is_kept(node: Node) -> bool:
    """Whether it is an input of a finished graph that the backend is not given."""
    return _KEPT in node.meta and not node.users


def drop_uses(module: GraphModule) -> None:
    """Take the nodes that do no more than keep an input out of a finished graph."""
    for node in module.graph.find_nodes(op="call_method", target="dim"):
        if _KEEPS in node.meta:
            module.graph.erase_node(node)


def without_kept(backend: Callable[..., Any]) -> Callable[..., Any]:
    """A backend that is not given the inputs that are kept for Python alone."""

    @functools.wraps(backend, updated=())
    def compile_graph(module: GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        nodes = module.graph.find_nodes(op="placeholder")
        used = [k for k, node in enumerate(nodes) if not is_kept(node)]
        if len(used) == len(nodes):
            return backend(module, inputs)  # type: ignore[no-any-return]
        run = backend(_with_inputs(module, {nodes[k] for k in used}), [inputs[k] for k in used])
        return functools.wraps(run, updated=())(lambda *given: run(*[given[k] for k in used]))

    return compile_graph


def _with_inputs(module: GraphModule, used: set[Node]) -> GraphModule:
    """A copy with these inputs alone, and with what Dynamo has noted (private: attributes of nodes and modules)."""
    graph = Graph()
    copies: dict[Node, Node] = {}
    for node in module.graph.nodes:
        if node.op != "placeholder" or node in used:
            copies[node] = graph.node_copy(node, copies.__getitem__)
            if hasattr(node, _SOURCE):
                setattr(copies[node], _SOURCE, getattr(node, _SOURCE))
    copy = GraphModule(module, graph)
    copy.meta.update(module.meta)
    for name in vars(module).keys() - vars(copy).keys():
        setattr(copy, name, getattr(module, name))
    return copy
