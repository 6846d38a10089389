"""Arithmetic of numbers from data that compiling backends would get wrong becomes an operator that asks Python.

    s = x.sum().item()                s = x.sum().item()
    r = 1.0 / s                       r = torch.ops.autograph_torch.number("truediv", "float", [1.0, s]).item()

These backends (all but "eager") take numbers for symbols of algebra. So they lose what Python raises (`1 / 0.0`,
`math.sqrt(-1.0)`, `int(inf)`), round floats where Python does not (`s // k`), or print code that is not Python's.
What cannot raise is left as it is. Sums, products and comparisons of floats become tensors (see numbers.py); those
that do not are Python's, too: to algebra `s != s` is false and `s - s` is zero, whatever s is.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.capture.computed_of import computed_of
from autograph_torch.runtime.arithmetic import FUNCTIONS
from autograph_torch.runtime.layout import NUMBER_DTYPES

_NAMES: dict[Any, str] = {
    **{function: name for name, function in FUNCTIONS.items()},
    **{getattr(torch, f"_sym_{name}"): name for name in FUNCTIONS if hasattr(torch, f"_sym_{name}")},
    torch.sym_max: "max",
    torch.sym_min: "min",
    torch.sym_int: "trunc",
}
_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)
_AS_TENSORS = frozenset(getattr(operator, name) for name in "add sub mul neg lt le gt ge eq ne".split())

_METHODS = ("__round__", "__trunc__", "__floor__", "__ceil__")
_SHIFTS = (operator.lshift, operator.rshift)
_NEVER_REFUSED = (*_AS_TENSORS, operator.abs, torch.sym_max, torch.sym_min, torch.sym_float, torch.sym_ite)


def ask_python(module: GraphModule, left_over: bool = False) -> None:
    """Rewrite the graph and the bodies of its operators in place.

    left_over: do what could have become arithmetic of tensors and did not; without, the rest.
    """
    for inner in module.modules():
        if isinstance(inner, GraphModule):
            chosen = [node for node in inner.graph.nodes if _needs_python(node, left_over)]
            for node in chosen:
                _rewrite(node)
            if chosen:
                inner.graph.lint()
                inner.recompile()


def _needs_python(node: Node, left_over: bool) -> bool:
    if node.op != "call_function" or node.target not in _NAMES or _kind(node) is None:
        return False
    if not any(depends_on_data(one) for one in node.all_input_nodes) or any(_kind(one) == "bool" for one in node.args):
        return False
    if node.target in _AS_TENSORS:
        return left_over and any(_kind(argument) == "float" for argument in node.args)
    return not left_over and not _is_safe(node)


def _rewrite(node: Node) -> None:
    kind, graph = _kind(node), node.graph
    assert kind is not None
    with graph.inserting_before(node):
        numbers = [_tensor_of(argument, graph) for argument in node.args]
        result = graph.call_function(torch.ops.autograph_torch.number, (_NAMES[node.target], kind, numbers))
        result.meta["example_value"] = torch.empty((), dtype=NUMBER_DTYPES[kind])
        number = graph.call_method("item", (result,))
    number.meta.update(node.meta)
    result.meta["stack_trace"] = node.meta.get("stack_trace")
    node.replace_all_uses_with(number)
    graph.erase_node(node)


def _tensor_of(argument: Any, graph: Graph) -> Node:
    """A tensor of no dimension that holds an operand."""
    dtype = NUMBER_DTYPES[_kind(argument) or "int"]
    if isinstance(argument, Node) and argument.target == "item" and argument.op == "call_method":
        # Not by way of the number, which Inductor's kernels take as a float32.
        made = graph.call_method("to", (graph.call_method("detach", argument.args), dtype), {"copy": True})
        made = graph.call_method("reshape", (made, ()))
    else:
        made = graph.call_function(torch.scalar_tensor, (argument,), {"dtype": dtype})
    made.meta["example_value"] = torch.empty((), dtype=dtype)
    return made


def _kind(argument: Any) -> str | None:
    """The type of a number; None for anything else."""
    value = argument.meta.get("example_value") if isinstance(argument, Node) else argument
    if isinstance(value, (bool, torch.SymBool)):
        return "bool"
    if isinstance(value, (int, torch.SymInt)):
        return "int"
    return "float" if isinstance(value, (float, torch.SymFloat)) else None


def depends_on_data(node: Node) -> bool:
    """Whether the value of a number is known only when the graph runs; sizes and arguments are known before."""
    value = node.meta.get("example_value")
    if isinstance(value, (torch.SymInt, torch.SymFloat)) and has_free_unbacked_symbols(value):
        return True
    return _is_read(node)


def _is_read(node: Node) -> bool:
    """Whether a number is computed of one that `.item()` has read: torch may know that by its place in the inputs."""
    numbers = [one for one in computed_of(node, _inputs) if _kind(one) is not None]
    return any(one.op == "call_method" and one.target == "item" for one in numbers)


def _inputs(node: Node) -> list[Node]:
    return node.all_input_nodes if node.op == "call_function" and _kind(node) is not None else []


def can_fail(node: Node) -> bool:
    """Whether a node is an operation of numbers from data that Python may refuse: `1 / s`, `int(s)`, `1 << n`."""
    if not is_arithmetic(node) or node.target in _NEVER_REFUSED or _kind(node) == "bool":
        return False
    if not any(depends_on_data(one) for one in node.all_input_nodes):
        return False
    if node.target in _SHIFTS:
        return not isinstance(node.args[1], int) or node.args[1] < 0
    return node.target in _METHODS or not _is_safe(node)


def may_not_fit(node: Node) -> bool:
    """Whether a node makes an integer of two integers from data: it may be too long for a tensor."""
    if not is_arithmetic(node) or node.target not in (operator.add, operator.sub, operator.mul):
        return False
    return all(isinstance(one, Node) and _kind(one) == "int" and depends_on_data(one) for one in node.args)


def is_arithmetic(node: Node) -> bool:
    """Whether a node makes a number of numbers."""
    is_call = node.op == "call_function" or (node.op == "call_method" and node.target in _METHODS)
    return is_call and all(_kind(one) is not None for one in (node, *node.args)) and not node.kwargs


def _is_safe(node: Node) -> bool:
    """Whether an operation of numbers cannot raise, and is exact as it is."""
    known = node.args[1] if len(node.args) > 1 and isinstance(node.args[1], (int, float)) else None
    if node.target is operator.truediv and known:
        return True
    if "float" in (_kind(node), _kind(node.args[0])):
        return False
    if node.target in _DIVISIONS:
        return bool(known)
    if node.target is operator.pow:
        return isinstance(known, int) and known >= 0
    return True
