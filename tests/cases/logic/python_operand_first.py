import torch


def func(x: torch.Tensor, clip: bool, mask=None):
    if clip and mask is not None and x.norm() > 1:
        x = x / x.norm()
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, clip: bool, mask=None):
    x = ag.cond(
        clip and mask is not None and x.norm() > 1,
        lambda: x / x.norm(),
        lambda: x,
    )
    return x
# calls
func(torch.tensor([2.0]), True)
func(torch.tensor([2.0]), True, 1)
func(torch.tensor([2.0]), False, 1)
func(torch.tensor([0.5]), True, 1)
