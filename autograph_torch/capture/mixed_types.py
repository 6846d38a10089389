"""`max` and `min` of an integer and a float from data: where their result's type would be seen, the trace stops.

    k = max(n.item(), 1.0)        5 or 1.0 in Python; torch gives 5.0
    return x / k                  the same for either
    return k                      refused

A type is seen where the number leaves the graph, makes a tensor, or meets a tensor of integers. Next to a float, in a
division or a comparison it is not.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from autograph_torch.capture.errors import capture_error_at

_EXTREMES = (torch.sym_max, torch.sym_min)
_OF_THEIR_TYPE = frozenset(getattr(operator, name) for name in "add sub mul floordiv mod pow neg pos abs".split())


def check_types(module: GraphModule) -> None:
    """Stop at the first number of a graph, or of a body in it, whose type is seen and may be another."""
    for inner in module.modules():
        if isinstance(inner, GraphModule):
            for node in inner.graph.nodes:
                if node.target in _EXTREMES and _is_mixed(node) and _is_seen(node):
                    raise capture_error_at(
                        node,
                        "AG310",
                        f"`{'max' if node.target is torch.sym_max else 'min'}` of an integer and a float gives the one "
                        "or the other, as the data are, and its type is seen",
                        "compare numbers of one type: `max(float(n), 1.0)`",
                    )


def _is_mixed(node: Node) -> bool:
    return {_kind(argument) for argument in node.args} == {int, float}


def _is_seen(number: Node) -> bool:
    """Whether it makes a difference that a float stands for an integer."""
    return any(_sees(user, number) for user in number.users)


def _sees(user: Node, number: Node) -> bool:
    if _kind(user) is None:
        tensors = [_tensor(node) for node in user.all_input_nodes if _tensor(node) is not None]
        return not tensors or not all(tensor.is_floating_point() for tensor in tensors)
    others = [_kind(argument) for argument in user.args if argument is not number]
    if user.target in _EXTREMES:
        return _is_seen(user)
    return user.target in _OF_THEIR_TYPE and float not in others and _is_seen(user)


def _kind(argument: Any) -> type | None:
    """The type of a number; None for anything else."""
    value = argument.meta.get("example_value") if isinstance(argument, Node) else argument
    if isinstance(value, (bool, int, torch.SymInt, torch.SymBool)):
        return int
    return float if isinstance(value, (float, torch.SymFloat)) else None


def _tensor(node: Node) -> Any:
    value = node.meta.get("example_value")
    return value if isinstance(value, torch.Tensor) else None
