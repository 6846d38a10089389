"""`out=` in the bodies of branches and loops: Inductor's decompositions of most functions do not take it.

    torch.exp(x, out=y)                    y.copy_(torch.exp(x))

Done where all tensors have one dtype: then it is the same. (Dynamo does not take an `out` that would be resized.)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node


def write_behind(module: GraphModule) -> None:
    """Rewrite the bodies of a graph's operators in place."""
    for inner in module.modules():
        if inner is module or not isinstance(inner, GraphModule):
            continue
        chosen = [node for node in inner.graph.nodes if _can_be_written_behind(node)]
        for node in chosen:
            _rewrite(node)
        if chosen:
            inner.graph.lint()
            inner.recompile()


def _can_be_written_behind(node: Node) -> bool:
    out = node.kwargs.get("out")
    if node.op != "call_function" or not isinstance(out, Node):
        return False
    values = [one.meta.get("example_value") for one in node.all_input_nodes]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    return len({tensor.dtype for tensor in tensors}) == 1


def _rewrite(node: Node) -> None:
    out: Any = node.kwargs["out"]
    kwargs = {name: value for name, value in node.kwargs.items() if name != "out"}
    with node.graph.inserting_before(node):
        target: Any = node.target
        value: Any = node.graph.call_function(target, node.args, kwargs)
        value.meta = {**node.meta, "example_value": out.meta["example_value"]}
        written: Any = node.graph.call_method("copy_", (out, value))
        written.meta = dict(node.meta)
    node.replace_all_uses_with(out)
    node.graph.erase_node(node)
