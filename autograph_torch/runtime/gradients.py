"""Guards for what torch's operators get wrong (torch 2.13): gradients of loops, random numbers, layouts of branches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import raise_refusal

ANCHOR = torch.zeros((), requires_grad=True)


class _Anchor(torch.autograd.Function):
    """The identity, whose result takes part in differentiation. Exact for NaN and infinity, unlike `x + 0 * anchor`."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, anchor: torch.Tensor) -> torch.Tensor:
        return tensor.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:  # type: ignore[override]
        return gradient, None


def anchored(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor as part of the differentiable graph, whether or not anything before it needs a gradient."""
    if tensor.requires_grad or not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor
    return _Anchor.apply(tensor, ANCHOR)


def recorded(passes: bool, function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)`; its gradients are recorded where one passes through a branch or loop under torch.no_grad().

    A branch that hands a tensor on gives it with its gradient, whatever is recorded around it.
    """
    if not passes:
        return function(*args)
    with torch.enable_grad():
        return function(*args)


def unrecorded(passes: bool, function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)`, the code of the program in what `recorded` calls."""
    if not passes:
        return function(*args)
    with torch.no_grad():
        result = function(*args)
        if _records_gradients():
            refuse_random_numbers()
        return result


@torch.compiler.assume_constant_result
def _records_gradients() -> bool:
    """Whether the program itself has recorded gradients in the body that is being traced."""
    return tracing.has_enabled_gradients()


def keep_gradients() -> None:
    """Keep Inductor from what makes gradients of branches wrong or refused."""
    keep_saved_buffers()
    keep_strides()


@torch.compiler.assume_constant_result
def keep_saved_buffers() -> int:
    """Keep Inductor from reusing, in place, a buffer that the backward pass of a branch or loop still needs.

    For the rest of the process: the backward pass is compiled when it first runs.
    """
    import torch._inductor.config as inductor

    inductor.inplace_buffers = False
    return 0


@torch.compiler.assume_constant_result
def keep_layouts() -> int:
    """Keep Inductor from choosing channels-last for convolutions around a branch: its body expects row-major inputs.

    Set back when the compilation ends (capture/compiling.py).
    """
    import torch._inductor.config as inductor

    inductor.layout_optimization = False
    return 0


@torch.compiler.assume_constant_result
def keep_strides() -> int:
    """Keep Inductor from padding matrix products, which gives the gradients of a branch strides that do not agree.

    Set back when the compilation ends (capture/compiling.py).
    """
    import torch._inductor.config as inductor

    inductor.shape_padding = False
    return 0


def keep_bits() -> None:
    """Keep Inductor from folding constants: of an integer that travels as a float, `-1` say, it makes any NaN.

    Set back when the compilation ends (capture/compiling.py).
    """
    import torch._inductor.config as inductor

    inductor.joint_graph_constant_folding = False


DRAWS = "draws"  # in the meta of a node: the operator by which it draws random numbers (capture/draws.py)
RECURRENT = frozenset(("lstm", "gru", "rnn_tanh", "rnn_relu"))


@torch.compiler.assume_constant_result
def refuse_random_numbers() -> int:
    """Stop when the body that is being traced draws random numbers and its gradients are recorded.

    The backward pass of a branch or loop runs its body again.
    """
    if not tracing.takes_part_in_gradients():
        return 0
    for node in tracing.nodes():
        if draws_random_numbers(node):
            raise_refusal(
                "AG323",
                f"`{called(node)}` draws random numbers in a branch or loop on a tensor, whose backward pass would "
                "draw others",
                "draw them before the branch or loop, or run under torch.no_grad()",
            )
    return 0


@torch.compiler.assume_constant_result
def body_draws() -> bool:
    """Whether the body of an operator that is being traced draws random numbers, or one in it does."""
    return any(map(draws_random_numbers, tracing.with_bodies(tracing.nodes())))


def draws_random_numbers(node: torch.fx.Node) -> bool:
    """Whether a node of a graph draws random numbers."""
    return DRAWS in node.meta


def called(node: torch.fx.Node) -> str:
    """The name of the function or method that a node calls."""
    return getattr(node.target, "__name__", str(node.target))
