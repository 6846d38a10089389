"""torch.utils.checkpoint on one path: a block that cannot become part of an operator is followed as a plain call.

    y = checkpoint(block, x, use_reentrant=False)       y = block(x)

What data decide is known at the top of a graph only, not in the body of torch's operator for checkpoints. So where a
trace of one path (capture/one_path.py) has failed in such a body, the next one calls that block as any function. Values
and gradients are the same; what a checkpoint is for, memory, is not saved. Other checkpoints stay what they are.

Eager runs the block once more in the backward pass. That shows where the block writes to what is from around it, or
prints, and where what it has read is written to behind it: such blocks are refused where gradients are recorded, and so
is what makes the second run another one (`use_reentrant=True`, `context_fn`, `preserve_rng_state=False`, `debug`). What
is left out: Python's random numbers, of which the second run in eager draws others. Blocks that become part of torch's
operator, which runs them once, are refused for the same writes.

Private: CheckpointHigherOrderVariable, the scopes of objects (`enter_new_scope`), SideEffects.snapshot_attr_mutation.
tests/capture/test_checkpoints.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from typing import Any

import torch
from torch._dynamo.current_scope_id import enter_new_scope
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables.higher_order_ops import CheckpointHigherOrderVariable
from torch._higher_order_ops.wrap import TagActivationCheckpoint
from torch.fx import GraphModule, Node
from torch.utils.checkpoint import noop_context_fn

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.finished import check_at_the_end
from autograph_torch.capture.graph_writes import Storage, has_gradient, storage_at, written, written_in
from autograph_torch.capture.marks import mark, marked
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.effects import TOP
from autograph_torch.runtime.refusal import raise_refusal

Line = tuple[str, int]

_TWICE = "the block of a checkpoint prints, or writes to tensors from around it: eager does so twice"
_RETURNS, _WITHOUT = "a block that returns what it changes", "or call the block without a checkpoint"
_INPUTS = ("placeholder", "get_attr")
_IN_A_BLOCK = "autograph_torch_in_a_block"  # in the `meta` of a node: it is of the block of such a checkpoint
_MARK = "_autograph_checkpoint"  # on an exception: the place of the innermost checkpoint that it has ended
_TAKEN = {
    "use_reentrant": (False,),
    "preserve_rng_state": (True,),
    "determinism_check": ("default", "none"),
    "debug": (False,),
    "early_stop": (True, False),
}


@contextlib.contextmanager
def checkpoints(plain: Collection[Line]) -> Iterator[None]:
    """While this is in force, checkpoints at these places are plain calls; those that fail at others can be told."""
    call = CheckpointHigherOrderVariable._call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        place = (tx.f_code.co_filename, tx.lineno)
        if place in plain:
            return _called_plainly(tx, args, kwargs)
        with marked(_MARK, place):
            result = call(self, tx, args, kwargs)
        check_at_the_end(tx.output, _check_writes)
        return result

    with patched(CheckpointHigherOrderVariable, _call_function=call_function):
        yield


def failed_checkpoint(error: BaseException) -> Line | None:
    """The place of the checkpoint in whose block a trace has ended."""
    return mark(error, _MARK)  # type: ignore[no-any-return]


def _called_plainly(tx: Any, args: Any, kwargs: Any) -> Any:
    options, given = TagActivationCheckpoint.divide_kwargs(kwargs)
    if not _is_taken(options):
        _refuse("a checkpoint with options of its own has a test on data in its block", "`use_reentrant=False` alone")
    block, *operands = args
    if not torch.is_grad_enabled():  # there is no second run
        return block.call_function(tx, operands, given)
    before = set(tx.output.graph.nodes)
    with _leaving_objects():
        result = block.call_function(tx, operands, given)
    inside = [node for node in tx.output.graph.nodes if node not in before and node.op not in _INPUTS]
    _check_effects(tx.output.graph, inside)
    for node in inside:
        node.meta[_IN_A_BLOCK] = True
    check_at_the_end(tx.output, _check_writes)
    return result


@contextlib.contextmanager
def _leaving_objects() -> Iterator[None]:
    """While this is in force, writes to objects from before it are refused."""
    check = SideEffects.check_allowed_side_effect

    def check_allowed(self: Any, item: Any) -> bool:
        is_token = getattr(item, "value", None) is TOP  # what orders the checks of the graph, and prints
        return is_token or check(self, item)

    with (
        enter_new_scope(),
        patched(SideEffects, check_allowed_side_effect=check_allowed, snapshot_attr_mutation=_never),
    ):
        yield


def _is_taken(options: dict[str, Any]) -> bool:
    """Whether the second run in the backward pass gives what the first one has given."""
    options = {"use_reentrant": None, **options}
    context = options.pop("context_fn", None)
    if context is not None and getattr(context, "fn", None) is not noop_context_fn:
        return False
    return all(
        value is not None and value.is_python_constant() and value.as_python_constant() in _TAKEN[name]
        for name, value in options.items()
    )


def _never(*_: Any) -> bool:
    return False


def _check_effects(graph: torch.fx.Graph, inside: list[Node]) -> None:
    """Stop where a block prints, or writes to tensors from around it.

    Raises:
        CaptureError: AG320, at the checkpoint's line.
    """
    own = set(inside)
    around = {storage_at(node) for node in graph.nodes if node not in own} - {None}
    prints = any(node.target is torch.ops.autograph_torch.effect for node in inside)
    if prints or any(storage_at(target) in around for node in inside for target in written(node)):
        _refuse(_TWICE, _RETURNS)


def _check_writes(module: GraphModule) -> None:
    """Stop where a block writes to what is from around it, or something that one has read is written to before the
    function has computed gradients.

    Raises:
        CaptureError: AG320, at the line of the checkpoint or of the write.
    """
    read: set[Storage | None] = set()
    for node in module.graph.nodes:
        if node.target is torch.autograd.grad:
            read.clear()  # the second runs are over
        elif isinstance(node.target, TagActivationCheckpoint) and any(map(has_gradient, node.users)):
            if written_in(node, module):
                raise capture_error_at(node, "AG320", _TWICE, f"use {_RETURNS}, {_WITHOUT}")
            read |= {storage_at(one) for one in node.all_input_nodes} - {None}
        elif node.meta.get(_IN_A_BLOCK):
            read |= {storage_at(one) for one in node.all_input_nodes if not one.meta.get(_IN_A_BLOCK)} - {None}
        elif any(storage_at(target) in read for target in (*written(node), *written_in(node, module))):
            what = "what the block of a checkpoint has read is written to behind it: eager's second run reads that"
            raise capture_error_at(node, "AG320", what, "write to a copy (`.clone()`), or behind `backward`")


def _refuse(what: str, instead: str) -> None:
    raise_refusal("AG320", what, f"use {instead}, {_WITHOUT}")
