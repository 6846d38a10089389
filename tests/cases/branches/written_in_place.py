import torch


def relu_(x: torch.Tensor) -> torch.Tensor:
    total = x.sum()
    if total > 10:
        x.mul_(10 / total)
        x[0] = 0.0
    return x
# output
import torch
import autograph_torch.runtime as ag


def relu_(x: torch.Tensor) -> torch.Tensor:
    total = x.sum()
    def then(x):
        x.mul_(10 / total)
        x[0] = 0.0
        return x
    x = ag.cond(total > 10, then, lambda x: x, mutated=(x,))
    return x
# calls
relu_(torch.tensor([1.0, 2.0]))
relu_(torch.tensor([10.0, 20.0]))
