"""What torch takes for granted of numbers that data decide is checked in graphs that are compiled, too.

    rows = x[mask]                         torch asserts in the graph: there are 3 rows
    y = rows + torch.ones(3)
    return y, rows.shape[0]                ... and from then on gives 3 for the size

A backend that compiles takes what is asserted for known: the size becomes a constant, and so does the assertion. With
one row eager Python gives (y, 1), such a graph (y, 3). Here the number is read once more, by an operator that nothing
is known of, and what was asserted is checked of that.

    size = torch.ops.autograph_torch.measured(rows, 0).item()
    torch._assert_async(torch.scalar_tensor(size == 3))

Private: the assertions that Dynamo writes into a graph (aten._assert_scalar), and those of a range among them.
tests/capture/test_kept_asserts.py fails clearly when torch changes them.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import ShapeEnv, has_free_unbacked_symbols
from torch.fx.node import map_arg

_BOUNDS = (operator.ge, operator.le)


def is_taken_for_granted(node: Node) -> bool:
    """Whether a node asserts more than the range of a number, which torch knows by itself (`0 <= size <= n`)."""
    if node.target is not torch.ops.aten._assert_scalar.default or not isinstance(node.args[0], Node):
        return False
    condition = node.args[0]
    if condition.target not in _BOUNDS or not isinstance(condition.args[1], int):
        return True
    return condition.target is operator.ge and condition.args[1] > 0


def keep_asserts(module: GraphModule) -> None:
    """Have the outermost graph check what was taken for granted, where the compiler would take it for known."""
    graph = module.graph
    for node in filter(is_taken_for_granted, list(graph.nodes)):
        with graph.inserting_before(node):
            condition = _again(node.all_input_nodes[0], {})
            if condition is not None:
                flag = graph.call_function(torch.scalar_tensor, (condition,), {"dtype": torch.bool})
                flag.meta["example_value"] = torch.empty((), dtype=torch.bool)
                graph.call_function(torch._assert_async, (flag, node.args[1])).meta["example_value"] = None
    graph.lint()
    module.recompile()


def _again(value: Node, known: dict[Node, Node | None]) -> Node | None:
    """A number, computed of numbers that are read once more; None where that cannot be."""
    if value not in known:
        known[value] = _read(value) or _computed(value, known)
    return known[value]


def _read(value: Node) -> Node | None:
    """A number that is the size of a tensor, or in one, read once more."""
    operators, graph = torch.ops.autograph_torch, value.graph
    if value.target is torch.ops.aten.sym_size.int or (value.target == "size" and len(value.args) == 2):
        read = graph.call_function(operators.measured, value.args)
    elif value.target == "item":
        read = graph.call_function(operators.number, ("floor", "int", [graph.call_method("detach", value.args)]))
    else:
        return None
    read.meta["example_value"] = torch.empty((), dtype=torch.int64)
    number = graph.call_method("item", (read,))
    env = _environment(value)
    with env.ignore_fresh_unbacked_symbols():
        number.meta["example_value"] = env.create_unbacked_symint()
    return number


def _environment(value: Node) -> ShapeEnv:
    """Where the symbols are that torch knows."""
    example = value.meta["example_value"]
    if isinstance(example, torch.SymInt):
        return example.node.shape_env
    (tensor,) = value.all_input_nodes  # torch 2.12 may have settled its size
    env: ShapeEnv = tensor.meta["example_value"].fake_mode.shape_env
    return env


def _computed(value: Node, known: dict[Node, Node | None]) -> Node | None:
    """A number that others make, made of those."""
    if value.op == "placeholder":
        return value
    example = value.meta.get("example_value")
    if isinstance(example, torch.SymInt) and not has_free_unbacked_symbols(example):
        return value
    inputs = [_again(one, known) for one in value.all_input_nodes]
    if value.op != "call_function" or value.kwargs or not callable(value.target) or None in inputs:
        return None
    made = value.graph.call_function(value.target, map_arg(value.args, known.__getitem__))
    example_args: Any = map_arg(made.args, lambda one: one.meta["example_value"])
    made.meta["example_value"] = value.target(*example_args)
    return made
