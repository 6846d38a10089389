import torch


def func(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = x * 2
        if y.sum() > 0:
            y = y - 1
        else:
            y = y + 1
    return y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = x * 2
        y = ag.cond(y.sum() > 0, lambda: y - 1, lambda: y + 1)
    return y
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
