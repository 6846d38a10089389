import torch


def func(x: torch.Tensor, training: bool, noise=None):
    if x.abs().max() > 1:
        x = x / x.abs().max()
        if training:
            x = x * 0.5
        if noise is not None:
            x = x + noise
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, training: bool, noise=None):
    def then(x):
        x = x / x.abs().max()
        if training:
            x = x * 0.5
        if noise is not None:
            x = x + noise
        return x
    x = ag.cond(x.abs().max() > 1, then, lambda x: x, (x,))
    return x
# calls
func(torch.tensor([1.0, 2.0]), True)
func(torch.tensor([1.0, 2.0]), False, torch.tensor([0.5]))
func(torch.tensor([0.5]), True, torch.tensor([0.5]))
