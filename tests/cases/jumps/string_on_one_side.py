import torch


def func(x: torch.Tensor):
    mode = "mean"
    if x.max() > 10:
        mode = "median"
    return getattr(x, mode)()
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor):
    mode = "mean"
    def then():
        mode = "median"
        return getattr(x, mode)()
    return ag.cond(x.max() > 10, then, lambda: getattr(x, mode)())
# calls
func(torch.tensor([3.0, 4.0, 11.0]))
func(torch.tensor([3.0, 4.0, 5.0]))
