import torch


def func(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0: x = x + 1; y = x * 2
    else: y = x
    return x + y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    def then(x):
        x = x + 1; y = x * 2
        return x, y
    def otherwise(x):
        y = x
        return x, y
    x, y = ag.cond(x.sum() > 0, then, otherwise, (x,))
    return x + y
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
