import torch


def func(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 1:
        return x
    x = x * 2
    if x.sum() < -1:
        return -x
    return x * 0
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    def otherwise(x):
        x = x * 2
        return ag.cond(x.sum() < -1, lambda: -x, lambda: x * 0)
    return ag.cond(x.sum() > 1, lambda x: x, otherwise, (x,))
# calls
func(torch.tensor([3.0]))
func(torch.tensor([-3.0]))
func(torch.tensor([0.25]))
