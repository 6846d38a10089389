import torch


def func(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        x = x * 2
        if y.sum() > 0:
            y = y + x
        z = x + y
    else:
        z = x - y
    return z
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    def then(x, y):
        x = x * 2
        y = ag.cond(y.sum() > 0, lambda: y + x, lambda: y)
        z = x + y
        return z
    z = ag.cond(x.sum() > 0, then, lambda x, y: x - y, (x, y))
    return z
# calls
func(torch.tensor([1.0]), torch.tensor([1.0]))
func(torch.tensor([1.0]), torch.tensor([-1.0]))
func(torch.tensor([-1.0]), torch.tensor([1.0]))
