"""Operands of `and` and `or` that may fail, or do more than to give a value, are not evaluated in vain.

    found.any() and x[found].max() > 1     `max` of no elements raises, and Python does not ask it
    x > 0 and meter.mean() > 1             a method of the program's, by the name of one of torch's

Whether a size is one of data, and what a name stands for, the text does not always show (passes/logic.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable, LazyVariableTracker, UserDefinedObjectVariable
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.analysis.vocabulary import SIZED_METHODS
from autograph_torch.capture.taken_elements import content_of
from autograph_torch.runtime import logic, tracing

_NOT_OF_PROGRAMS = frozenset(("torch", "builtins", "collections", "enum", "functools"))


def _evaluation(parent: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    operands = [one.realize() for one in arguments["rest"].items]
    may_fail = any(not SIZED_METHODS.isdisjoint(one.get_code().co_names) for one in operands)
    lazy = may_fail and any(map(has_free_unbacked_symbols, _sizes(parent.output.current_tracer)))
    return {"lazy": ConstantVariable.create(lazy or any(map(_runs_code, operands)))}


def _runs_code(operand: Any) -> bool:
    """Whether an operand does something with an object whose class is the program's: `m + 1` is a call of `__add__`."""
    around = operand.get_globals()
    kinds = [type(around[name]) for name in operand.get_code().co_names if name in around]
    closure = getattr(operand, "closure", None)
    kinds += [kind for cell in (closure.items if closure is not None else ()) for kind in _kind_of(content_of(cell))]
    return any(map(_is_of_program, kinds))


def _kind_of(value: Any) -> list[type]:
    if isinstance(value, LazyVariableTracker) and not value.is_realized():
        return [type(value.original_value())]  # without a guard on what is in it
    value = value.realize() if value is not None else None
    return [value.python_type()] if isinstance(value, UserDefinedObjectVariable) else []


def _is_of_program(kind: type) -> bool:
    return kind.__module__.partition(".")[0] not in _NOT_OF_PROGRAMS and not issubclass(kind, torch.Tensor)


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
