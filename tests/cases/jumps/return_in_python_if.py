import torch


def func(x: torch.Tensor, fast: bool) -> torch.Tensor:
    if fast:
        if x.sum() > 0:
            return x
        x = x - 1
    return x * 2
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, fast: bool) -> torch.Tensor:
    if fast:
        def otherwise(x):
            x = x - 1
            return x * 2
        return ag.cond(x.sum() > 0, lambda x: x, otherwise, (x,))
    else:
        return x * 2
# calls
func(torch.tensor([3.0]), True)
func(torch.tensor([-3.0]), True)
func(torch.tensor([-3.0]), False)
