import torch


def func(x: torch.Tensor) -> torch.Tensor:
    y = x + 1 if x.sum() > 0 else x - 1  # away from zero
    return y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    y = ag.cond(x.sum() > 0, lambda: x + 1, lambda: x - 1)  # away from zero
    return y
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
