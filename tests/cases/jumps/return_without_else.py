import torch


def func(x: torch.Tensor):
    if x.sum() > 0:
        return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor):
    return ag.cond(x.sum() > 0, lambda: x, lambda: None)
# calls
func(torch.tensor([3.0]))
func(torch.tensor([-3.0]))
