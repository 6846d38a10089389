"""The order in which the dimensions of a tensor lie in memory: what branches and loops hand on keeps it.

    y = x.t() * 2           column by column: its order is (1, 0)
    -> reordered(y, (1, 0)).reshape(-1).clone()...        travels row by row, with its dimensions in this order
    -> reordered(leaf, (1, 0))                            behind the operator: laid out as in eager

torch's operators hand out tensors that all paths lay out alike; ours travel row by row (runtime/codec.py). A tensor of
which only data tell the sizes has no order that a trace could tell, and travels as it is.

Private: compute_elementwise_output_logical_to_physical_perm, is_contiguous_or_false of torch._prims_common.
tests/capture/test_given_strides.py fails clearly when torch changes them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._prims_common import compute_elementwise_output_logical_to_physical_perm, is_contiguous_or_false
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from autograph_torch.runtime import tracing

Order = tuple[int, ...]

_PERMUTE = "permute"
_REORDERED = "autograph_torch_reordered"  # in the `meta` of the node of what `reordered` gives


def order_of(tensor: torch.Tensor) -> Order | None:
    """The dimensions of a (fake) tensor, from the one that takes the longest steps in memory; None for row by row."""
    if tensor.ndim < 2 or is_contiguous_or_false(tensor) or free_unbacked_symbols(tensor.shape):
        return None
    order, _ = compute_elementwise_output_logical_to_physical_perm(tensor)
    return None if order == sorted(order) else tuple(order)


def inverse(order: Order) -> Order:
    """The order that takes dimensions back to where they were."""
    return tuple(order.index(k) for k in range(len(order)))


def reordered(tensor: torch.Tensor, order: Order) -> torch.Tensor:
    """A view of a tensor with its dimensions in another order, which the graph knows for one of ours."""
    view = tensor.permute(order)
    _mark_reordered()
    return view


def reordered_node(node: Any, order: Order | None) -> Any:
    """The same in a finished graph, behind the node of the tensor; the node itself where there is no other order."""
    if order is None:
        return node
    with node.graph.inserting_after(node):
        view = node.graph.call_method(_PERMUTE, (node, order))
    view.meta.update({"example_value": node.meta["example_value"].permute(order), _REORDERED: True})
    return view


@torch.compiler.assume_constant_result
def _mark_reordered() -> int:
    newest = next(node for node in reversed(tracing.nodes()) if node.target == _PERMUTE)
    newest.meta[_REORDERED] = True
    return 0


def is_reordered(node: Any) -> bool:
    """Whether a node of a graph is what `reordered` has given."""
    # An input of a body has the `meta` of what it is outside.
    return node.target == _PERMUTE and _REORDERED in node.meta
