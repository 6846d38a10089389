"""Tensors that a branch or loop with gradients has used, and that are written to afterwards.

    if x.sum() > 0:
        t = t + y.relu().sum()         eager saves what `relu` gives; torch.cond saves y itself, with its version
    y.add_(1)                          backward: "modified by an inplace operation"

Such an operand is replaced by a copy made before the operator: the copy is what is saved.

    y = x * w                          autograd saves x
    if p:
        x.add_(1)                      the graph writes to x in any case, also what it has been

So is what a function has read, or given, that autograd saves, where eager writes to it on some paths only.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from autograph_torch.capture.graph_writes import (
    Storage,
    has_gradient,
    is_operator,
    name_of,
    operator_behind,
    storage_at,
    written,
)

# Functions of which autograd saves the result (others save operands alone), and some of which it saves no tensor.
_SAVE_RESULTS = frozenset(
    "exp exp2 expm1 tanh tan sigmoid relu softmax log_softmax sqrt rsqrt reciprocal elu selu celu cumprod prod norm "
    "vector_norm std logsumexp".split()
)
_SAVE_NOTHING = frozenset("add sub neg clone sum mean roll flip cumsum detach to stack cat".split())


def keep_operands(module: GraphModule) -> None:
    """Rewrite the graph and the bodies of its operators in place."""
    for inner in module.modules():
        if isinstance(inner, GraphModule) and _keep_in(inner.graph):
            inner.graph.lint()
            inner.recompile()


def _keep_in(graph: torch.fx.Graph) -> bool:
    storages: set[Storage | None] = set()  # that nodes behind the current one write to
    surely: set[Storage | None] = set()  # that eager writes to there, whatever the data
    changed = False
    for node in reversed(list(graph.nodes)):
        if is_operator(node) and storages and any(map(has_gradient, node.all_input_nodes)):
            changed |= _copy_operands(node, storages)
        elif storages - surely and has_gradient(node) and not written(node):
            changed |= _keep_saved(node, storages - surely)
        targets = {storage_at(target) for target in written(node)} - {None}
        storages |= targets
        surely |= targets if operator_behind(node) is None else set()
    return changed


def _copy_operands(node: Node, storages: set[Storage | None]) -> bool:
    operands = [operand for operand in node.all_input_nodes if storage_at(operand) in storages]
    for operand in operands:
        _copy_before(node, operand)
    return bool(operands)


def _keep_saved(node: Node, storages: set[Storage | None]) -> bool:
    """Copy what autograd may save of a function: its operands, and its result, unless it is a view of one."""
    storage = storage_at(node)
    if storage is None or storage in map(storage_at, node.all_input_nodes):
        return False
    if storage in storages and name_of(node) in _SAVE_RESULTS:
        _copy_behind(node)
        _copy_operands(node, storages)
        return True
    return name_of(node) not in _SAVE_NOTHING and _copy_operands(node, storages)


def _copy_before(operator: Node, operand: Node) -> None:
    with operator.graph.inserting_before(operator):
        copy: Any = operator.graph.call_method("clone", (operand,))
    copy.meta = {**operand.meta, "example_value": operand.meta["example_value"].clone()}
    operator.replace_input_with(operand, copy)


def _copy_behind(node: Node) -> None:
    """Everything else gets a copy: it is in the place of the result, also for writes."""
    with node.graph.inserting_after(node):
        copy: Any = node.graph.call_method("clone", (node,))
    node.replace_all_uses_with(copy, delete_user_cb=lambda user: user is not copy)
    copy.meta = {**node.meta}
    node.meta = {**node.meta, "example_value": node.meta["example_value"].clone()}
