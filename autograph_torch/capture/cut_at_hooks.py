"""Hooks of tensors that the function computes, where Dynamo cannot trace them before it comes to the gradient.

    h = layer(x)
    h.register_hook(clip)              def clip(g): seen.append(g.norm().item()); return g / g.norm() if ... else None
    loss(h).backward()

Dynamo traces a hook where it is registered, of a gradient that nobody knows. On one path, where that has failed, a leaf
of the graph stands for `h` from there on, and the hook is called with the leaf's gradient when that is computed
(runtime/hooked.py). So it may ask what data say, write to lists, print. What has used `h` before is not behind the
leaf: then, and where the caller is to compute the gradient, it is refused as before.

Private: TensorVariable.method_register_hook, method_requires_grad_ and `proxy`. tests/capture/test_cut_at_hooks.py
fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.variables import ListVariable, TensorVariable, TupleVariable, UserFunctionVariable
from torch._dynamo.variables.base import ValueMutationNew
from torch._dynamo.variables.lists import BaseListVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch.fx import Node

from autograph_torch.capture.graph_writes import has_gradient
from autograph_torch.capture.marks import mark, marked
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import hooked, tracing
from autograph_torch.runtime.refusal import raise_refusal

Line = tuple[str, int]

_USED = (
    "a gradient goes through a tensor with a hook that depends on data, and by way of what used the tensor before",
    "register the hook where the tensor is made",
)

_PLACE = "_autograph_hook"  # on an exception: the place where the hook that it has ended is registered
_CUTS = "_autograph_cuts"  # on the output: the cuts
_HANDLES = "_autograph_handles"  # on a variable that is cut: the list


@dataclass(frozen=True)
class _Cut:
    """Variables of the tensor, of the leaf and of the list of handles; and what has used the tensor before."""

    before: TensorVariable
    leaf: TensorVariable
    handles: ListVariable
    users: frozenset[Node]


@contextlib.contextmanager
def cut_at_hooks(places: Collection[Line]) -> Iterator[None]:
    """While this is in force, tensors are cut where such hooks are registered, and hooks that fail can be told."""
    register, called = TensorVariable.method_register_hook, TorchInGraphFunctionVariable.call_function

    def register_hook(self: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        place = (tx.f_code.co_filename, tx.lineno)
        if place in places and (_HANDLES in self.__dict__ or _can_be_cut(tx, self)):
            return _registered(tx, self, *args, **kwargs)
        if self.source:
            return register(self, tx, *args, **kwargs)
        with marked(_PLACE, place):
            return register(self, tx, *args, **kwargs)

    def call(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        cuts = tx.output.__dict__.get(_CUTS, ())
        if self.value is not torch.autograd.grad or not cuts or tracing.is_ours(tx.f_code.co_filename):
            return called(self, tx, args, kwargs)
        _check_uses(cuts, args[0])
        given = TupleVariable([TupleVariable([cut.before, cut.leaf, cut.handles]) for cut in _in_order(tx, cuts)])
        through: Any = hooked.grad
        return UserFunctionVariable(through).call_function(tx, [given, *args], kwargs)

    with (
        patched(TensorVariable, method_register_hook=register_hook),
        patched(TorchInGraphFunctionVariable, call_function=call),
    ):
        yield


def failed_hook(error: BaseException) -> Line | None:
    """The place where the hook is registered in which a trace has ended."""
    return mark(error, _PLACE)


def _can_be_cut(tx: Any, tensor: Any) -> bool:
    is_at_the_top = tx.output.current_tracer.parent is None and tracing.transform() is None
    return is_at_the_top and not tensor.source and bool(tensor.requires_grad) and torch.is_grad_enabled()


def _registered(tx: Any, tensor: Any, hook: Any) -> Any:
    make_handle: Any = hooked.make_handle
    handle = UserFunctionVariable(make_handle).call_function(tx, [hook], {})
    handles = tensor.__dict__.get(_HANDLES)
    if handles is None:
        handles = _cut(tx, tensor)
    handles.call_method(tx, "append", [handle], {})
    return handle


def _cut(tx: Any, tensor: Any) -> Any:
    """Let a leaf stand for a tensor from here on."""
    before = copy.copy(tensor)
    users = frozenset(user for user in tensor.as_proxy().node.users if has_gradient(user))
    proxy = tx.output.create_proxy("call_method", "detach", (tensor.as_proxy(),), {})
    proxy.node.meta["example_value"] = tensor.as_proxy().node.meta["example_value"].detach()
    tensor.proxy, tensor.requires_grad = proxy, False
    tensor.call_method(tx, "requires_grad_", [], {})
    handles = ListVariable([], mutation_type=ValueMutationNew())
    tensor.__dict__[_HANDLES] = handles
    tx.output.__dict__.setdefault(_CUTS, []).append(_Cut(before, tensor, handles, users))
    return handles


def _in_order(tx: Any, cuts: list[_Cut]) -> list[_Cut]:
    """As autograd comes to them: what was computed last in front."""
    order = {node: k for k, node in enumerate(tx.output.graph.nodes)}
    return sorted(cuts, key=lambda cut: order[cut.before.as_proxy().node], reverse=True)


def _check_uses(cuts: list[_Cut], outputs: Any) -> None:
    """Stop where a gradient comes by way of what has used a tensor before its hook was registered.

    Raises:
        CaptureError: AG320.
    """
    waiting = [one.as_proxy().node for one in _tensors(outputs)]
    seen: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        waiting += node.all_input_nodes
    if any(cut.users & seen for cut in cuts):
        raise_refusal("AG320", *_USED)


def _tensors(outputs: Any) -> list[Any]:
    found = outputs.realize()
    return found.items if isinstance(found, BaseListVariable) else [found]
