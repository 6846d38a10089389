"""Arithmetic of numbers from data that compiling backends would get wrong becomes an operator that asks Python.

    s = x.sum().item()                s = x.sum().item()
    r = 1.0 / s                       r = torch.ops.autograph_torch.number("truediv", True, [1.0, s]).item()

These backends (all but "eager") take numbers for symbols of algebra. So they lose what Python raises (`1 / 0.0`,
`math.sqrt(-1.0)`, `int(inf)`), round floats where Python does not (`s // k`), or print code that is not Python's.
Sums and products, and what cannot raise, are left as they are: of floats they become tensors (see numbers.py).
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.runtime.arithmetic import FUNCTIONS

_NAMES: dict[Any, str] = {
    **{function: name for name, function in FUNCTIONS.items()},
    **{getattr(torch, f"_sym_{name}"): name for name in FUNCTIONS if hasattr(torch, f"_sym_{name}")},
    torch.sym_max: "max",
    torch.sym_min: "min",
    torch.sym_int: "trunc",
}
_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)


def ask_python(module: GraphModule) -> None:
    """Rewrite the graph and the bodies of its operators in place."""
    for inner in module.modules():
        if isinstance(inner, GraphModule) and any([_rewritten(node) for node in list(inner.graph.nodes)]):
            inner.graph.lint()
            inner.recompile()


def _rewritten(node: Node) -> bool:
    """Rewrite a node if it needs to be."""
    if node.op != "call_function" or node.target not in _NAMES or not depends_on_data(node) or _is_safe(node):
        return False
    real = isinstance(node.meta["example_value"], torch.SymFloat)
    graph = node.graph
    with graph.inserting_before(node):
        numbers = [_tensor_of(argument, graph) for argument in node.args]
        result = graph.call_function(torch.ops.autograph_torch.number, (_NAMES[node.target], real, numbers))
        result.meta["example_value"] = torch.empty((), dtype=torch.float64 if real else torch.int64)
        number = graph.call_method("item", (result,))
    number.meta.update(node.meta)
    result.meta["stack_trace"] = node.meta.get("stack_trace")
    node.replace_all_uses_with(number)
    graph.erase_node(node)
    return True


def _tensor_of(argument: Any, graph: Graph) -> Node:
    """A tensor of no dimension that holds an operand."""
    value = argument.meta["example_value"] if isinstance(argument, Node) else argument
    dtype = torch.float64 if isinstance(value, (float, torch.SymFloat)) else torch.int64
    made = graph.call_function(torch.scalar_tensor, (argument,), {"dtype": dtype})
    made.meta["example_value"] = torch.empty((), dtype=dtype)
    return made


def depends_on_data(node: Node) -> bool:
    """Whether the value of a number is known only when the graph runs; sizes and arguments are known before."""
    value = node.meta.get("example_value")
    return isinstance(value, (torch.SymInt, torch.SymFloat)) and (has_free_unbacked_symbols(value) or _is_read(node))


def _is_read(node: Node) -> bool:
    """Whether a number is computed of one that `.item()` has read: torch may know that by its place in the inputs."""
    if not isinstance(node.meta.get("example_value"), (torch.SymInt, torch.SymFloat)):
        return False
    if node.op == "call_method":
        return node.target == "item"
    return node.op == "call_function" and any(_is_read(one) for one in node.all_input_nodes)


def _is_safe(node: Node) -> bool:
    """Whether an operation of numbers cannot raise, and is exact as it is."""
    known = node.args[1] if len(node.args) > 1 and isinstance(node.args[1], (int, float)) else None
    if node.target is operator.truediv and known:
        return True
    if isinstance(node.meta["example_value"], torch.SymFloat) or _is_real(node.args[0]):
        return False
    if node.target in _DIVISIONS:
        return bool(known)
    if node.target is operator.pow:
        return isinstance(known, int) and known >= 0
    return True


def _is_real(argument: Any) -> bool:
    value = argument.meta.get("example_value") if isinstance(argument, Node) else argument
    return isinstance(value, (float, torch.SymFloat))
