"""The gradients that the backward pass of a body takes and gives are tensors of their own, laid out as their inputs.

torch runs the backward pass of a branch as a branch again. What it takes may share memory (the gradients of the parts
of `torch.stack`), what its two sides give may lie in different orders (`expand` after `sum`, channels-last). Then torch
refuses it: "might be aliasing the input or the output", "The sorted order of strides of the two branches' output
doesn't match".

    if p: y = torch.cat([y, y])         for the branch that was not taken the gradient of y has another size: it is
    else: y = y[mask]                   traced with zeros of its own ("shape '[4]' is invalid for input of size 2")

Private: cond.create_bw_fn of torch._higher_order_ops, which makes the backward pass of a body, for loops too, and the
classes CondAutogradOp and WhileLoopAutogradOp.
tests/capture/test_body_gradients.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._higher_order_ops.while_loop import WhileLoopAutogradOp
from torch.fx.experimental.symbolic_shapes import (
    GuardOnDataDependentSymNode,
    has_free_unbacked_symbols,
    statically_known_true,
    sym_eq,
)

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.merging import cond_module
from autograph_torch.capture.patching import patched
from autograph_torch.capture.sized_gradients import FormulasWithoutSizes

_ASKED = "the gradient of a function in a branch or loop needs a size that depends on data"
_ADVICE = "call the function outside of the branch, or choose elements by torch.where instead of a mask"


@contextlib.contextmanager
def gradients_of_their_own() -> Iterator[None]:
    """While this is in force, the gradients of a body are copies."""
    create = cond_module.create_bw_fn
    operators: tuple[Any, ...] = (cond_module.CondAutogradOp, WhileLoopAutogradOp)

    @functools.wraps(create)
    def create_with_copies(fn: Callable[..., Any], args: tuple[Any, ...], **kwargs: Any) -> Any:
        gradients: list[Any] = []  # those of the results, in the trace that is under way

        def fitting(*operands: Any) -> Any:
            return _fitted(fn(*operands), gradients)

        backward = create(fitting, args, **kwargs)

        @functools.wraps(backward)
        def copied(*inputs: Any) -> Any:
            gradients[:] = inputs[len(args) :]
            inner = patched(cond_module, create_bw_fn=create_with_copies)  # of branches inside of this one
            with inner, enable_python_dispatcher(), FormulasWithoutSizes():
                found = _asking_no_sizes(backward, inputs, fn)
            return [_copy(one, like) for one, like in zip(found, inputs, strict=False)]

        return copied

    with contextlib.ExitStack() as stack:
        stack.enter_context(patched(cond_module, create_bw_fn=create_with_copies))
        for operator in operators:
            stack.enter_context(patched(operator, backward=staticmethod(_of_copies(operator.backward))))
        yield


def _of_copies(backward: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(backward)
    def backward_of_copies(ctx: Any, *gradients: Any) -> Any:
        return backward(ctx, *[_copy(one, one) for one in gradients])

    return backward_of_copies


def _has_open_size(node: torch.fx.Node) -> bool:
    value = node.meta.get("example_value", node.meta.get("val"))
    return isinstance(value, torch.Tensor) and has_free_unbacked_symbols(value)


def _asking_no_sizes(backward: Callable[..., Any], inputs: tuple[Any, ...], body: Any) -> Any:
    """The gradients, where their formulas do not ask for a size that only data tell.

    Raises:
        CaptureError: AG321, else, at the last use of such a size.
    """
    try:
        return backward(*inputs)
    except GuardOnDataDependentSymNode as error:
        nodes = list(body.graph.nodes) if isinstance(body, torch.fx.GraphModule) else []
        placed = [node for node in nodes if node.meta.get("stack_trace")]
        concerned = [node for node in placed if any(map(_has_open_size, node.all_input_nodes))]
        raise capture_error_at(concerned[-1] if concerned else None, "AG321", _ASKED, _ADVICE) from error


def _fitted(results: Any, gradients: list[Any]) -> list[Any]:
    """Results in the sizes of the gradients that came for them: those of floating-point numbers have one each."""
    floats = [k for k, one in enumerate(results) if isinstance(one, torch.Tensor) and one.is_floating_point()]
    fitted = list(results)
    if len(floats) == len(gradients):
        for k, gradient in zip(floats, gradients, strict=True):
            if not statically_known_true(sym_eq(fitted[k].shape, gradient.shape)):
                fitted[k] = _fitted_op(fitted[k], gradient)
    return fitted


@torch.library.custom_op("autograph_torch::fitted", mutates_args=())
def _fitted_op(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The tensor where it has the size of another one; elsewhere the branch was not taken, and nobody asks."""
    return tensor.clone() if tensor.shape == like.shape else torch.zeros_like(like, dtype=tensor.dtype)


@_fitted_op.register_fake
def _(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(like, dtype=tensor.dtype)


def _remember(ctx: Any, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
    ctx.save_for_backward(inputs[0])


def _fitted_backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
    return _fitted_op(gradient, *ctx.saved_tensors), None


_fitted_op.register_autograd(_fitted_backward, setup_context=_remember)


def _copy(gradient: Any, like: Any) -> Any:
    """The gradient in memory of its own, in the layout of a tensor of the same shape (dense, where that is not)."""
    if not isinstance(gradient, torch.Tensor) or gradient.layout != torch.strided:
        return gradient
    return torch.ops.aten.copy(torch.empty_like(like), gradient)
