"""Operands of `and` and `or` that fail for some sizes, where only data tell a size, are not evaluated in vain.

    found.any() and x[found].max() > 1     `max` of no elements raises, and Python does not ask it

Whether a size is one of data the text does not always show (passes/logic.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.analysis.vocabulary import SIZED_METHODS
from autograph_torch.runtime import logic, tracing


def _evaluation(parent: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    operands = [one.realize() for one in arguments["rest"].items]
    may_fail = any(not SIZED_METHODS.isdisjoint(one.get_code().co_names) for one in operands)
    lazy = may_fail and any(map(has_free_unbacked_symbols, _sizes(parent.output.current_tracer)))
    return {"lazy": ConstantVariable.create(lazy)}


def _sizes(tracer: Any) -> Iterator[torch.Size]:
    """The sizes of all tensors of the graph so far."""
    for around in tracing.enclosing(tracer):
        for node in around.graph.nodes:
            value = node.meta.get("example_value")
            if isinstance(value, torch.Tensor) and value.layout == torch.strided:
                yield value.shape


LATER_OPERANDS: dict[Any, Callable[..., dict[str, Any]]] = {
    function.__code__: _evaluation for function in (logic.and_, logic.or_)
}
