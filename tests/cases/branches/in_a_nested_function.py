import torch


def func(x: torch.Tensor) -> torch.Tensor:
    def clipped(y):
        if y.norm() > 1:
            y = y / y.norm()
        return y

    return clipped(x) + clipped(-x)
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    def clipped(y):
        y = ag.cond(y.norm() > 1, lambda: y / y.norm(), lambda: y)
        return y

    return clipped(x) + clipped(-x)
# calls
func(torch.tensor([3.0]))
func(torch.tensor([-0.3]))
