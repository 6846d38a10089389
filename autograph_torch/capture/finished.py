"""Checks of a graph when it is finished, before a backend gets it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch.fx import GraphModule

Check = Callable[[GraphModule], None]

_CHECKS = "_autograph_torch_checks"


def check_at_the_end(output: Any, *checks: Check) -> None:
    """Have the graph of a trace (an OutputGraph of Dynamo's) go through these checks, each of them once."""
    backend = output.compiler_fn
    known = getattr(backend, _CHECKS, ())
    new = [check for check in checks if check not in known]
    if not new:
        return

    @functools.wraps(backend)
    def compile_graph(graph: GraphModule, inputs: list[Any], **settings: Any) -> Any:
        for check in new:
            check(graph)
        return backend(graph, inputs, **settings)

    setattr(compile_graph, _CHECKS, (*known, *new))
    output.compiler_fn = compile_graph
