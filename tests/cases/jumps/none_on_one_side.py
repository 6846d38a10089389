import torch


def func(x: torch.Tensor) -> torch.Tensor:
    bonus = None
    if x.sum() > 0:
        bonus = x.max()
    y = x * 2
    if bonus is not None:
        y = y + bonus
    return y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    bonus = None
    def then():
        bonus = x.max()
        y = x * 2
        if bonus is not None:
            y = y + bonus
        return y
    def otherwise():
        y = x * 2
        if bonus is not None:
            y = y + bonus
        return y
    return ag.cond(x.sum() > 0, then, otherwise)
# calls
func(torch.tensor([3.0, 1.0]))
func(torch.tensor([-3.0]))
