"""Whether two floats, of which data tell one at least, are one object.

    m = n
    if p: m = n * 1
    m in [n], m is n                   where p is false

It is known where neither may have been handed through a branch or loop, or be one of several (`max(n, m)`); else it is
refused, at the branch. `float(n)` and `+n` are the float `n` itself. (A number that two branches or trips have in
common is another node of the graph for each, read from a tensor that they are handed.)
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable, SymNodeVariable
from torch.fx import Node

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import handed_out, name_of
from autograph_torch.capture.shared_results import ADVICE, IDENTITY
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import raise_refusal

_THE_SAME = ("sym_float", "pos")  # what gives a float back that it is given
_ONE_OF_SEVERAL = ("sym_max", "sym_min", "where")
_HANDS_ON = ("getitem", "where", "view", "to", "detach", "clone", "reshape")


def may_be_no_number(variable: Any) -> bool:
    """Whether it is a float from data, or NaN."""
    if isinstance(variable, SymNodeVariable):
        return isinstance(variable.sym_num, torch.SymFloat)
    return type(variable) is ConstantVariable and type(variable.value) is float and math.isnan(variable.value)


def is_one_float(one: Any, other: Any, tracer: Any) -> bool:
    """Whether two floats are one object.

    Raises:
        CaptureError: the trace does not know.
    """
    nodes = [_float_behind(number, tracer) for number in (one, other)]
    if nodes[0] is nodes[1]:
        return True
    for node in filter(None, nodes):
        tensor = _tensor_behind(node)
        if name_of(node) in _ONE_OF_SEVERAL or (tensor is not None and _is_carried(tensor, tracer)):
            raise_refusal("AG314", IDENTITY, ADVICE)
        result = None if tensor is None else handed_out(tensor, _HANDS_ON)
        if result is not None:
            raise capture_error_at(result.all_input_nodes[0], "AG314", IDENTITY, ADVICE)
    return False


def _float_behind(number: Any, tracer: Any) -> Node | None:
    """What has made a float, in whichever body; None of a constant."""
    if type(number) is ConstantVariable:
        return None
    node: Node = tracing.resolved(number.as_proxy(), tracer).node
    made: Node | None = node
    while made is not None:
        node = made
        tensor = _tensor_behind(node)
        if name_of(node) in _THE_SAME:
            made = _float_in(node)
        elif tensor is not None and tensor.op == "placeholder":  # a body is handed floats as tensors
            made = _float_in(tracing.origin(tensor, tracer))
        else:
            made = None
    return node


def _tensor_behind(number: Node) -> Node | None:
    """The tensor that a number is read from."""
    if name_of(number) != "item":
        return None
    (tensor,) = number.all_input_nodes
    while name_of(tensor) in ("clone", "detach"):
        (tensor,) = tensor.all_input_nodes
    return tensor


def _float_in(node: Node | None) -> Node | None:
    """The one argument of a node, where that is a float from data."""
    given = [] if node is None else node.all_input_nodes
    return given[0] if len(given) == 1 and isinstance(given[0].meta.get("example_value"), torch.SymFloat) else None


def _is_carried(tensor: Node, tracer: Any) -> bool:
    """Whether a number that is read from it may be one that a loop hands from trip to trip."""
    if tensor.op != "placeholder" or tracing.origin(tensor, tracer) is not None:
        return False
    example = tensor.meta["example_value"]
    is_of_body = any(around.graph is tensor.graph for around in tracing.enclosing(tracer) if around.parent is not None)
    return bool(is_of_body and example.dtype is torch.float64 and not example.dim())
