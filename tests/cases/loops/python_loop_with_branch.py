import torch


def func(x: torch.Tensor, n: int) -> torch.Tensor:
    for _ in range(n):
        if x.sum() > 0:
            x = x - 1
        else:
            x = x + 2
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, n: int) -> torch.Tensor:
    for _ in range(n):
        x = ag.cond(x.sum() > 0, lambda: x - 1, lambda: x + 2)
    return x
# calls
func(torch.tensor([3.0]), 0)
func(torch.tensor([3.0]), 1)
func(torch.tensor([3.0]), 5)
