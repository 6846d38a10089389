import torch


def func(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:  # the usual case
        # grow first
        x = x + 1
        y = x * 2  # then double
    else:
        # nothing to do
        y = x
    return x - y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    def then(x):  # the usual case
        # grow first
        x = x + 1
        y = x * 2  # then double
        return x, y
    def otherwise(x):
        # nothing to do
        y = x
        return x, y
    x, y = ag.cond(x.sum() > 0, then, otherwise, (x,))
    return x - y
# calls
func(torch.tensor([1.0, 2.0]))
func(torch.tensor([-1.0, -2.0]))
