"""Whether a branch with gradients writes to its operands: torch.cond traces it to find out, here a look is enough.

    if p:               in training torch traces both branches anew at every call of an operator, and in there those
        if q:           of the operators inside: n levels of branches are traced more than 2**n times
            ...

torch.cond refuses branches that write to their operands in training. What it asks stays the same; where both branches
are graphs in which no node writes to anything but what the branch has made, the answer is known. (To ask would also
fail for writes to places that depend on data: `y[mask] = v`.)

Private: the kernel of the operator for autograd, and what it closes over. tests/capture/test_pure_branches.py fails
clearly when torch changes what this leans on.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch.fx import GraphModule

from autograph_torch.capture.graph_writes import storage_at, written

_AUTOGRAD = torch._C.DispatchKey.Autograd  # type: ignore[attr-defined]


def know_pure_branches() -> None:
    """Let torch.cond with gradients run branches that write to nothing without tracing them first."""
    operator: Any = torch.ops.higher_order.cond
    asks = operator.py_kernels[_AUTOGRAD]
    differentiate = inspect.getclosurevars(asks).nonlocals.get("fn")
    if differentiate is None:
        return  # a version of torch that does not ask

    def run(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
        if _has_gradient(operands) and _is_pure(true_fn) and _is_pure(false_fn):
            return differentiate(pred, true_fn, false_fn, operands)
        return asks(pred, true_fn, false_fn, operands)

    operator.py_kernels[_AUTOGRAD] = run
    operator._dispatch_cache.clear()


def _has_gradient(operands: Any) -> bool:
    return torch.is_grad_enabled() and any(isinstance(one, torch.Tensor) and one.requires_grad for one in operands)


def _is_pure(branch: Any) -> bool:
    """Whether a branch is a graph that writes at most to tensors it has made itself, and so are the bodies in it."""
    if not isinstance(branch, GraphModule):
        return False
    return all(_keeps_what_it_is_given(module) for module in branch.modules() if isinstance(module, GraphModule))


def _keeps_what_it_is_given(module: GraphModule) -> bool:
    nodes = list(module.graph.nodes)
    if any(node.op == "call_module" for node in nodes):
        return False
    storages = {storage_at(target) for node in nodes for target in written(node)}
    given = {storage_at(node) for node in nodes if node.op in ("placeholder", "get_attr")}
    return None not in storages and not storages & given
