"""The gradients that the backward pass of a body takes and gives are tensors of their own, laid out as their inputs.

torch runs the backward pass of a branch as a branch again. What it takes may share memory (the gradients of the parts
of `torch.stack`), what its two sides give may lie in different orders (`expand` after `sum`, channels-last). Then torch
refuses it: "might be aliasing the input or the output", "The sorted order of strides of the two branches' output
doesn't match".

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
from torch._higher_order_ops.while_loop import WhileLoopAutogradOp

from autograph_torch.capture.merging import cond_module
from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def gradients_of_their_own() -> Iterator[None]:
    """While this is in force, the gradients of a body are copies."""
    create = cond_module.create_bw_fn
    operators: tuple[Any, ...] = (cond_module.CondAutogradOp, WhileLoopAutogradOp)

    @functools.wraps(create)
    def create_with_copies(*args: Any, **kwargs: Any) -> Any:
        backward = create(*args, **kwargs)

        @functools.wraps(backward)
        def copied(*inputs: Any) -> Any:
            return [_copy(one, like) for one, like in zip(backward(*inputs), inputs, strict=False)]

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


def _copy(gradient: Any, like: Any) -> Any:
    """The gradient in memory of its own, in the layout of a tensor of the same shape (dense, where that is not)."""
    if not isinstance(gradient, torch.Tensor) or gradient.layout != torch.strided:
        return gradient
    return torch.ops.aten.copy(torch.empty_like(like), gradient)
