import torch


def func(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = torch.stack([
            x,  # itself
            -x,
        ])
        y = y.sum(
            dim=0,
        )
    else:
        y = x
    return y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    def then():
        y = torch.stack([
            x,  # itself
            -x,
        ])
        y = y.sum(
            dim=0,
        )
        return y
    y = ag.cond(x.sum() > 0, then, lambda: x)
    return y
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
