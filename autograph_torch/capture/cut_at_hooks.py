"""Hooks of tensors that the function computes, where Dynamo cannot trace them before it comes to the gradient.

    h = layer(x)
    h.register_hook(clip)              def clip(g): seen.append(g.norm().item()); return g / g.norm() if ... else None
    loss(h).backward()

Dynamo traces a hook where it is registered, of a gradient that nobody knows. On one path, where that has failed, a leaf
of the graph stands for `h` from there on, and the hook is called with the leaf's gradient when that is computed
(capture/cuts.py). So it may ask what data say, write to lists, print. What has used `h` before is not behind the leaf:
then, and where the caller is to compute the gradient, it is refused as before.

Private: TensorVariable.method_register_hook. tests/capture/test_cut_at_hooks.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Collection, Iterator
from typing import Any

from torch._dynamo.variables import ListVariable, TensorVariable, UserFunctionVariable
from torch._dynamo.variables.base import ValueMutationNew

from autograph_torch.capture.cuts import can_be_cut, cut, remember
from autograph_torch.capture.graph_writes import has_gradient
from autograph_torch.capture.marks import mark, marked
from autograph_torch.capture.operator_results import calls
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import cuts

Line = tuple[str, int]

_PLACE = "_autograph_hook"  # on an exception: the place where the hook that it has ended is registered
_HANDLES = "_autograph_handles"  # on a variable that is cut: the list


@contextlib.contextmanager
def cut_at_hooks(places: Collection[Line]) -> Iterator[None]:
    """While this is in force, tensors are cut where such hooks are registered, and hooks that fail can be told."""
    register = TensorVariable.method_register_hook

    def register_hook(self: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        place = (tx.f_code.co_filename, tx.lineno)
        if place in places and not self.source and self.requires_grad and can_be_cut(tx):
            return _registered(tx, self, *args, **kwargs)
        if self.source:
            return register(self, tx, *args, **kwargs)
        with marked(_PLACE, place):
            return register(self, tx, *args, **kwargs)

    with patched(TensorVariable, method_register_hook=register_hook):
        yield


def failed_hook(error: BaseException) -> Line | None:
    """The place where the hook is registered in which a trace has ended."""
    return mark(error, _PLACE)  # type: ignore[no-any-return]


def _registered(tx: Any, tensor: Any, hook: Any) -> Any:
    make_handle: Any = cuts.make_handle
    handle = UserFunctionVariable(make_handle).call_function(tx, [hook], {})
    if _HANDLES not in tensor.__dict__:
        _cut(tx, tensor)
    tensor.__dict__[_HANDLES].call_method(tx, "append", [handle], {})
    return handle


def _cut(tx: Any, tensor: Any) -> None:
    before, node = copy.copy(tensor), tensor.as_proxy().node
    users = frozenset(user for user in node.users if has_gradient(user) and not calls(user, "detach"))
    handles = tensor.__dict__[_HANDLES] = ListVariable([], mutation_type=ValueMutationNew())
    cut(tx, tensor)
    make_hooked: Any = cuts.make_hooked
    remember(tx, UserFunctionVariable(make_hooked).call_function(tx, [before, tensor, handles], {}), node, users)
