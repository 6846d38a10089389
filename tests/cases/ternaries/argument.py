import torch


def func(x: torch.Tensor, low: float) -> torch.Tensor:
    return torch.add(x, low if x.max() < 1 else 0.0)
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, low: float) -> torch.Tensor:
    return torch.add(x, ag.cond(x.max() < 1, lambda: low, lambda: 0.0))
# calls
func(torch.tensor([1.0]), 2.0)
func(torch.tensor([0.5]), 2.0)
