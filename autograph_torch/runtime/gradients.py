"""Guards for what torch's loops get wrong about gradients (facts S2 and S3, torch 2.13)."""

from __future__ import annotations

from typing import Any

import torch

_ANCHOR = torch.zeros((), requires_grad=True)


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
    return _Anchor.apply(tensor, _ANCHOR)


@torch.compiler.assume_constant_result
def keep_saved_buffers() -> int:
    """Keep Inductor from reusing, in place, a buffer that the backward pass of a loop still needs."""
    import torch._inductor.config as inductor

    inductor.inplace_buffers = False
    return 0
