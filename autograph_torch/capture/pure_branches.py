"""Whether a branch with gradients writes to its operands: torch.cond traces it to find out, here a look is enough.

    if p:               in training torch traces both branches anew at every call of an operator, and in there those
        if q:           of the operators inside: n levels of branches are traced more than 2**n times
            ...

torch.cond refuses branches that write to their operands in training. What it asks stays the same; where both branches
are graphs in which no node writes to anything, the answer is known.

Private: the kernel of the operator for autograd, and what it closes over. tests/capture/test_pure_branches.py fails
clearly when torch changes what this leans on.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch.fx import GraphModule

from autograph_torch.capture.failures import written_by

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
    """Whether a branch is a graph in which no node writes to a tensor, nor do the bodies in it."""
    if not isinstance(branch, GraphModule):
        return False
    graphs = [module.graph for module in branch.modules() if isinstance(module, GraphModule)]
    return not any(node.op == "call_module" or written_by(node) for graph in graphs for node in graph.nodes)
