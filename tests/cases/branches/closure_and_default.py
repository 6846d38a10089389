import torch


def make(scale: float):
    def apply(x: torch.Tensor, /, *, bias: float = 0.5, **rest: float) -> torch.Tensor:
        if x.sum() > 0:
            x = x * scale + bias
        return x + rest.get("more", 0.0)

    return apply
# output
import torch
import autograph_torch.runtime as ag


def make(scale: float):
    def apply(x: torch.Tensor, /, *, bias: float = 0.5, **rest: float) -> torch.Tensor:
        x = ag.cond(x.sum() > 0, lambda: x * scale + bias, lambda: x)
        return x + rest.get("more", 0.0)

    return apply
# calls
make(2.0)(torch.tensor([1.0]))
make(2.0)(torch.tensor([-1.0]), bias=1.0, more=2.0)
