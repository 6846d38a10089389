import torch


def func(values: torch.Tensor, middle: torch.Tensor) -> torch.Tensor:
    if middle.sum() > 0:
        y = values[middle]
        y = y * values[middle - 1]
    else:
        y = values[0]
    return y
# output
import torch
import autograph_torch.runtime as ag


def func(values: torch.Tensor, middle: torch.Tensor) -> torch.Tensor:
    def then():
        y = values[ag.index(middle)]
        y = y * values[ag.index(middle - 1)]
        return y
    y = ag.cond(middle.sum() > 0, then, lambda: values[0])
    return y
# calls
func(torch.tensor([1.0, 2.0, 3.0]), torch.tensor(1))
func(torch.tensor([1.0, 2.0, 3.0]), torch.tensor(0))
