import torch


def clip(grad: torch.Tensor, limit: float) -> torch.Tensor:
    if not torch.isfinite(grad).all():
        return torch.zeros_like(grad)
    norm = grad.norm()  # of all elements
    if norm <= limit:
        return grad
    return grad * (limit / norm)
# output
import torch
import autograph_torch.runtime as ag


def clip(grad: torch.Tensor, limit: float) -> torch.Tensor:
    def otherwise():
        norm = grad.norm()  # of all elements
        return ag.cond(
            norm <= limit,
            lambda: grad,
            lambda: grad * (limit / norm),
        )
    return ag.cond(
        ag.not_(torch.isfinite(grad).all()),
        lambda: torch.zeros_like(grad),
        otherwise,
    )
# calls
clip(torch.tensor([3.0, 4.0]), 1.0)
clip(torch.tensor([0.3, 0.4]), 1.0)
clip(torch.tensor([float("inf"), 0.4]), 1.0)
