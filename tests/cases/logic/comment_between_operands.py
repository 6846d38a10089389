import torch


def func(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if (
        x.any()  # something is there
        and y.any()
    ):
        x = x + y
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    # something is there
    x = ag.cond(ag.and_(x.any(), lambda: y.any()), lambda: x + y, lambda: x)
    return x
# calls
func(torch.tensor([1.0]), torch.tensor([1.0]))
func(torch.tensor([1.0]), torch.tensor([0.0]))
func(torch.tensor([0.0]), torch.tensor([0.0]))
