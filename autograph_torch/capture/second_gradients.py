"""Gradients of gradients: torch's compiled graphs have none, and say so late or give zeros.

    (g,) = torch.autograd.grad(fast(x), x, create_graph=True)
    g.sum().backward()                                          torch raises here; torch.autograd.functional.hessian
                                                                takes what is missing for zeros

So a backward pass that is to be differentiated itself is refused when it comes to a compiled graph with a branch or
loop. The backend `eager` compiles nothing and has these gradients.

Private: the name of the class of autograd nodes that stand for compiled graphs. tests/capture/test_second_gradients.py
fails clearly when torch changes it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.capture.errors import capture_error_at

_COMPILED = "CompiledFunctionBackward"
_OPERATORS = (torch.ops.higher_order.cond, torch.ops.higher_order.while_loop)


def refusing_second_gradients(graph: torch.fx.GraphModule, run: Callable[..., Any]) -> Callable[..., Any]:
    """`run`, whose results refuse to be differentiated twice; `run` itself for a graph without branches and loops."""
    nodes = [node for node in graph.graph.nodes if node.target in _OPERATORS]
    if not nodes:
        return run
    error = capture_error_at(
        nodes[0],
        "AG326",
        "the gradient of this branch or loop is to be differentiated itself, which compiled graphs do not support",
        'use backend="eager", or call the function uncompiled where second derivatives are needed',
    )

    def refuse(_: Any) -> None:
        if torch.is_grad_enabled():  # in a backward pass: with create_graph=True
            raise error

    @functools.wraps(run)
    def watched(*inputs: Any) -> Any:
        results = run(*inputs)
        found: list[Any] = [getattr(one, "grad_fn", None) for one in results]
        for node in {id(node): node for node in found if type(node).__name__ == _COMPILED}.values():
            node.register_prehook(refuse)
        return results

    return watched
