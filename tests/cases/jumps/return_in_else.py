import torch


def func(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x + 1
    else:
        return -x
    return y * 2
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    def then():
        y = x + 1
        return y * 2
    return ag.cond(x.sum() > 0, then, lambda: -x)
# calls
func(torch.tensor([3.0, 1.0]))
func(torch.tensor([-3.0]))
