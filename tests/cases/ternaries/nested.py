import torch


def func(x: torch.Tensor) -> torch.Tensor:
    return x if x.sum() > 1 else -x if x.sum() < -1 else x * 0
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    return ag.cond(
        x.sum() > 1,
        lambda: x,
        lambda: ag.cond(x.sum() < -1, lambda: -x, lambda: x * 0),
    )
# calls
func(torch.tensor([3.0]))
func(torch.tensor([-3.0]))
func(torch.tensor([0.5]))
