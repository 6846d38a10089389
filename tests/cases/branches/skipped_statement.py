import torch


def func(x: torch.Tensor):
    if x.max() > 0:
        x = x / x.norm()  # autograph: skip
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor):
    def then(x):
        x = x / x.norm()  # autograph: skip
        return x
    x = ag.cond(x.max() > 0, then, lambda x: x, (x,))
    return x
# calls
func(torch.ones(2))
func(torch.zeros(2))
