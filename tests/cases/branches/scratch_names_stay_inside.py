import torch


def func(x: torch.Tensor) -> torch.Tensor:
    y = x
    if x.max() > 1:
        scale = x.max()
        shifted = x - x.mean()
        y = shifted / scale
    return y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    y = x
    def then(x, y):
        scale = x.max()
        shifted = x - x.mean()
        y = shifted / scale
        return y
    y = ag.cond(x.max() > 1, then, lambda x, y: y, reads=(x, y))
    return y
# calls
func(torch.tensor([1.0, 2.0]))
func(torch.tensor([-1.0, -2.0]))
