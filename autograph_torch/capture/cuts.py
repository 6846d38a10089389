"""Cuts of the graph: a leaf stands for what was computed, and gradients go through it as runtime/cuts.py says.

    leaf = cut(tx, tensor)                behind this point the leaf takes part in what is computed
    remember(tx, made, node)              made: a Hooked or Applied of the runtime; node: what stands before the cut
    torch.autograd.grad(loss, [w])        becomes cuts.grad(those that are remembered, loss, [w]); so `loss.backward()`

What depends on such a leaf is no result: its gradient is the caller's, who has no cuts. capture/leaves_made.py asks.

Private: TensorVariable.method_requires_grad_, `proxy` and `has_grad_fn`, by which Dynamo tells leaves;
TorchInGraphFunctionVariable.call_function. tests/capture/test_cut_at_hooks.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.variables import TupleVariable, UserFunctionVariable
from torch._dynamo.variables.lists import BaseListVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch.fx import Node

from autograph_torch.capture.detached import detached
from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import has_gradient
from autograph_torch.capture.operator_results import calls
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import cuts, tracing
from autograph_torch.runtime.refusal import raise_refusal

_USED = (
    "a gradient goes through a tensor with a hook that depends on data, and by way of what used the tensor before",
    "register the hook where the tensor is made",
)
_AGAIN = (
    "a gradient goes a second time through what autograd has forgotten, in a function with hooks that depend on data",
    "pass `retain_graph=True` the first time",
)
_RESULT = (
    "the function returns what depends on a tensor with a hook, or on an autograd.Function, that depends on data",
    "compute the gradient in the function (`loss.backward()`), or let the hook ask no data",
)
_CUTS = "_autograph_cuts"  # on the output
_LEAVES = "_autograph_leaves"  # on the output: the nodes that stand for what was computed
_SPENT = "_autograph_spent"  # on the output: what gradients have gone through that keep nothing


@dataclass(frozen=True)
class _Cut:
    """The variable of the runtime's object; what stands before the cut, and what has used that before."""

    made: Any
    node: Node
    users: frozenset[Node]


@contextlib.contextmanager
def gradients_through_cuts() -> Iterator[None]:
    """While this is in force, gradients go through the cuts that are remembered."""
    called = TorchInGraphFunctionVariable.call_function

    def call(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        known = tx.output.__dict__.get(_CUTS, ())
        if self.value is not torch.autograd.grad or not known or tracing.is_ours(tx.f_code.co_filename):
            return called(self, tx, args, kwargs)
        _check_uses(tx, known, args[0], kwargs)
        given = TupleVariable([one.made for one in _in_order(tx, known)])
        through: Any = cuts.grad
        return UserFunctionVariable(through).call_function(tx, [given, *args], kwargs)

    with patched(TorchInGraphFunctionVariable, call_function=call):
        yield


def can_be_cut(tx: Any) -> bool:
    """Whether a gradient is recorded here, of which the function may ask."""
    is_at_the_top = tx.output.current_tracer.parent is None and tracing.transform() is None
    return is_at_the_top and torch.is_grad_enabled()


def cut(tx: Any, tensor: Any) -> None:
    """Let a leaf stand for a tensor from here on."""
    tensor.proxy, tensor.requires_grad = detached(tx.output, tensor), False
    tensor.call_method(tx, "requires_grad_", [], {})
    tensor.has_grad_fn = True  # to the program it is none
    tx.output.__dict__.setdefault(_LEAVES, set()).add(tensor.as_proxy().node)


def remember(tx: Any, made: Any, node: Node, users: frozenset[Node] = frozenset()) -> None:
    """Let gradients go through a cut."""
    tx.output.__dict__.setdefault(_CUTS, []).append(_Cut(made, node, users))


def leaves_of_cuts(output: Any) -> Set[Node]:
    """What stands for what was computed."""
    return output.__dict__.get(_LEAVES, frozenset())  # type: ignore[no-any-return]


def refuse_result_behind(leaf: Node) -> None:
    """Stop where a result depends on a cut.

    Raises:
        CaptureError: AG320.
    """
    raise capture_error_at(leaf, "AG320", *_RESULT)


def _in_order(tx: Any, known: list[_Cut]) -> list[_Cut]:
    """As autograd comes to them: what was computed last in front."""
    order = {node: k for k, node in enumerate(tx.output.graph.nodes)}
    return sorted(known, key=lambda one: order[one.node], reverse=True)


def _check_uses(tx: Any, known: list[_Cut], outputs: Any, options: Any) -> None:
    """Stop where a gradient comes by way of what has used a tensor before it was cut, or where it has gone before.

    Raises:
        CaptureError: AG320.
    """
    seen = _gone_through([one.as_proxy().node for one in _tensors(outputs)], leaves_of_cuts(tx.output))
    if any(one.users & seen for one in known):
        raise_refusal("AG320", *_USED)
    spent = tx.output.__dict__.setdefault(_SPENT, set())
    recorded = {node for node in seen if _is_recorded(node)}
    if spent & recorded:
        raise_refusal("AG320", *_AGAIN)
    if not any(name in options and _is_true(options[name]) for name in ("retain_graph", "create_graph")):
        spent |= recorded


def _gone_through(outputs: list[Node], leaves: Set[Node]) -> set[Node]:
    """What a gradient of these goes through: it ends where the program detaches a tensor.

    It does not at a cut, nor behind one in what an autograd.Function has computed unrecorded.
    """
    seen: set[tuple[Node, bool]] = set()
    waiting = [(node, False) for node in outputs]  # each, and whether it stands behind a cut, unrecorded
    while waiting:
        node, unrecorded = waiting.pop()
        if (node, unrecorded) not in seen:
            seen.add((node, unrecorded))
            unrecorded = (unrecorded or node in leaves) and not _is_recorded(node)
            ends = calls(node, "detach") and not unrecorded
            waiting += [] if ends else [(one, unrecorded) for one in node.all_input_nodes]
    return {node for node, _ in seen}


def _is_recorded(node: Node) -> bool:
    """Whether autograd goes through it, and forgets what it has saved."""
    return has_gradient(node) and node.meta["example_value"].grad_fn is not None


def _is_true(option: Any) -> bool:
    return not option.is_python_constant() or bool(option.as_python_constant())


def _tensors(outputs: Any) -> list[Any]:
    found = outputs.realize()
    return found.items if isinstance(found, BaseListVariable) else [found]
