"""Tensors that a branch or loop with gradients has used, and that are written to afterwards.

    if x.sum() > 0:
        t = t + y.relu().sum()         eager saves what `relu` gives; torch.cond saves y itself, with its version
    y.add_(1)                          backward: "modified by an inplace operation"

Such an operand is replaced by a copy made before the operator: the copy is what is saved.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from autograph_torch.capture.graph_writes import Storage, is_operator, storage_at, written


def keep_operands(module: GraphModule) -> None:
    """Rewrite the graph and the bodies of its operators in place."""
    for inner in module.modules():
        if isinstance(inner, GraphModule) and _keep_in(inner.graph):
            inner.graph.lint()
            inner.recompile()


def _keep_in(graph: torch.fx.Graph) -> bool:
    storages: set[Storage | None] = set()  # that nodes behind the current one write to
    changed = False
    for node in reversed(list(graph.nodes)):
        if is_operator(node) and storages and any(map(_has_gradient, node.all_input_nodes)):
            for operand in node.all_input_nodes:
                if storage_at(operand) in storages:
                    _copy_before(node, operand)
                    changed = True
        storages.update(storage_at(target) for target in written(node))
        storages.discard(None)
    return changed


def _has_gradient(node: Node) -> bool:
    value = node.meta.get("example_value")
    return isinstance(value, torch.Tensor) and value.requires_grad


def _copy_before(operator: Node, operand: Node) -> None:
    with operator.graph.inserting_before(operator):
        copy: Any = operator.graph.call_method("clone", (operand,))
    copy.meta = {**operand.meta, "example_value": operand.meta["example_value"].clone()}
    operator.replace_input_with(operand, copy)
