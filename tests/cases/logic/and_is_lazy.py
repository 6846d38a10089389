import torch


def func(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    if x.any() and x[i] > 0:
        x = x + 1
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    x = ag.cond(
        ag.and_then(x.any(), lambda: x[ag.index(i)] > 0),
        lambda: x + 1,
        lambda: x,
    )
    return x
# calls
func(torch.tensor([1.0, 0.0]), torch.tensor(0))
func(torch.tensor([1.0, 0.0]), torch.tensor(1))
func(torch.tensor([0.0, 0.0]), torch.tensor(1))
