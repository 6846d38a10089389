"""Powers of tensors take an exponent from data as a tensor, where torch makes their gradient while it compiles.

    x ** s                            x ** torch.scalar_tensor(s)

The gradient of a power asks which number the exponent is: "NYI SymInt equality". Inside of an operator's body torch
makes the gradient when it compiles, on every backend.
"""

from __future__ import annotations

import operator

import torch
from torch.fx import GraphModule, Node

from autograph_torch.capture.arithmetic import depends_on_data

_POWERS = ("pow", "__pow__", "__rpow__", operator.pow, torch.pow)


def exponents_as_tensors(module: GraphModule, at_the_top: bool) -> None:
    """Rewrite the bodies of a graph's operators in place, and the graph itself if `at_the_top`."""
    for inner in module.modules():
        if isinstance(inner, GraphModule) and (at_the_top or inner is not module):
            powers = [node for node in inner.graph.nodes if node.target in _POWERS]
            for node in powers:
                _with_tensors(node)
            if powers:
                inner.recompile()


def _with_tensors(node: Node) -> None:
    """Give a power the numbers that depend on data as tensors, in the dtype of the result."""
    value = node.meta.get("example_value")
    if not isinstance(value, torch.Tensor) or value.dtype not in (torch.float32, torch.float64):
        return
    for number in [argument for argument in node.all_input_nodes if depends_on_data(argument)]:
        with node.graph.inserting_before(node):
            made = node.graph.call_function(torch.scalar_tensor, (number,), {"dtype": value.dtype})
        made.meta["example_value"] = torch.empty((), dtype=value.dtype)
        node.replace_input_with(number, made)
