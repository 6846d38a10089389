import torch


def func(x: torch.Tensor, low: float) -> torch.Tensor:
    if low < x.sum() < 1:
        x = x * 2
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, low: float) -> torch.Tensor:
    x = ag.cond(
        ag.and_(low < (middle := x.sum()), lambda: middle < 1),
        lambda: x * 2,
        lambda: x,
    )
    return x
# calls
func(torch.tensor([0.5]), 0.0)
func(torch.tensor([0.5]), 0.7)
func(torch.tensor([5.0]), 0.7)
