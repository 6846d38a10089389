"""A BatchNorm that is evaluated, and then trained, before the gradient of what it has evaluated is computed.

    bn.eval(); y = bn(x)         eager's backward reads the running statistics as they are then: bn(z) has written to
    bn.train(); z = bn(z)        them, which autograd does not notice, for no version is counted there
    (y + z).sum().backward()     A graph takes those that `y` was made with: other gradients, without a word

So that is refused. (Other writes to the statistics in between are errors in eager.)
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import Storage, given_by_name, name_of, storage_at

_STATISTICS = ("running_mean", "running_var")
_TRAINS = ("training", "use_input_stats")


def check_statistics(graph: GraphModule) -> None:
    """Stop at the training behind the evaluation.

    Raises:
        CaptureError: AG320, at its line.
    """
    evaluated: set[Storage | None] = set()
    for node in graph.graph.nodes:
        if node.target is torch.autograd.grad:
            evaluated.clear()
        if name_of(node) not in ("batch_norm", "instance_norm"):
            continue
        given = given_by_name(node)
        statistics = {storage_at(given.get(name)) for name in _STATISTICS} - {None}
        if not any(given.get(name) is True for name in _TRAINS):
            evaluated |= statistics if _records(node) else set()
        elif statistics & evaluated:
            what = "running statistics are written to that a gradient still needs: eager reads what they have become"
            advice = "compute the gradient of what has been evaluated first, or evaluate in `torch.no_grad()`"
            raise capture_error_at(node, "AG320", what, advice)


def _records(node: Node) -> bool:
    value = node.meta.get("example_value")
    return isinstance(value, torch.Tensor) and value.requires_grad
