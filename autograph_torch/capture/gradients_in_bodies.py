"""A gradient that is computed in a branch or loop on data: refused, also where torch notices only when the graph runs.

    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    while r.norm() > tol:
        (hd,) = torch.autograd.grad(g, x, d, retain_graph=True)     in the body `g` has no history that leads to `x`,
                                                                    but in the trace it has

Private: dynamo's run_node. tests/capture/test_gradients_in_bodies.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo import utils

from autograph_torch.capture.errors import GRADIENT_IN_A_BODY
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import notes
from autograph_torch.runtime.refusal import raise_refusal


@contextlib.contextmanager
def gradients_in_bodies() -> Iterator[None]:
    """While this is in force, such gradients are refused (AG320)."""
    run_node = utils.run_node

    def run(tracer: Any, node: torch.fx.Node, *args: Any) -> Any:
        if node.target is torch.autograd.grad and notes.body_depth() > 0:
            raise_refusal("AG320", *GRADIENT_IN_A_BODY)
        return run_node(tracer, node, *args)

    with patched(utils, run_node=run):
        yield
