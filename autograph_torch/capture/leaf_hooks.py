"""Hooks of tensors whose gradient the function itself computes: refused where the graph would pass over them.

    w.register_hook(lambda g: g.clamp(max=1))       Dynamo registers it behind the graph, in which the gradient has been
    loss.backward()                                 computed without it: `w.grad` was not clamped
    return w.grad

Hooks that a tensor has had before the call are in no graph, either. A backend that runs the graph as it is runs those
of `register_hook`; those of `register_post_accumulate_grad_hook` none does, for a graph has no such step. As a tensor
may get a hook at any time, each call looks. (Hooks of tensors that the function makes are traced by Dynamo.)

Private: SideEffects.tensor_hooks and remove_hook; Tensor._backward_hooks and _post_accumulate_grad_hooks.
tests/capture/test_leaf_hooks.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch.fx import GraphModule, Node

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import given_nodes
from autograph_torch.capture.patching import patched
from autograph_torch.diagnostics import CaptureError

Compiled = Callable[..., Any]

_PASSED_OVER = "a gradient is computed inside, of a tensor that has a hook: the graph would compute it without"
_ADVICE = "write the hook's work behind `backward`, or compute the gradient outside of the converted function"


@contextlib.contextmanager
def leaf_hooks() -> Iterator[None]:
    """While this is in force, a hook of such a tensor that is removed again is refused, too."""
    remove = SideEffects.remove_hook

    def remove_hook(self: Any, index: int) -> None:
        node = self.tensor_hooks[index][0].as_proxy().node
        for call in node.users:
            if call.target is torch.autograd.grad:
                raise _refusal(call)
        remove(self, index)

    with patched(SideEffects, remove_hook=remove_hook):
        yield


def minding_hooks(graph: GraphModule, run: Compiled, compiles: bool) -> Compiled:
    """`run`, which refuses tensors with hooks where a gradient of theirs is computed inside.

    Raises:
        CaptureError: AG320, at the line that computes it; here, where the function itself registers the hook.
    """
    computed = _computed(graph)
    if not computed:
        return run
    _check_registered(computed)
    inputs = graph.graph.find_nodes(op="placeholder")
    places = tuple((k, computed[node]) for k, node in enumerate(inputs) if node in computed)

    @functools.wraps(run, updated=())
    def mind(*inputs: Any) -> Any:
        for place, call in places:
            if _has_hooks(inputs[place], compiles):
                raise _refusal(call)
        return run(*inputs)

    return mind


def _computed(graph: GraphModule) -> dict[Node, Node]:
    """The inputs of a graph whose gradients it computes -> what computes them."""
    found: dict[Node, Node] = {}
    for call in graph.graph.find_nodes(op="call_function", target=torch.autograd.grad):
        found |= {leaf: call for leaf in given_nodes(call, 1, "inputs") if leaf.op == "placeholder"}
    return found


def _check_registered(computed: dict[Node, Node]) -> None:
    hooks = InstructionTranslator.current_tx().output.side_effects.tensor_hooks
    registered = {hook[0].as_proxy().node for hook in hooks.values()}
    for leaf, call in computed.items():
        if leaf in registered:
            raise _refusal(call)


def _has_hooks(tensor: Any, compiles: bool) -> bool:
    return bool(tensor._post_accumulate_grad_hooks or (compiles and tensor._backward_hooks))


def _refusal(call: Node) -> CaptureError:
    return capture_error_at(call, "AG320", _PASSED_OVER, _ADVICE)
