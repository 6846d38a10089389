import torch


def func(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x
    y = x + 1  # on the way
    return y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    def otherwise():
        y = x + 1  # on the way
        return y
    return ag.cond(x.sum() > 0, lambda: x, otherwise)
# calls
func(torch.tensor([3.0]))
func(torch.tensor([-3.0]))
