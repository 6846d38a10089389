import torch


def func(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        print("positive", x.shape)
        x = x - 1
    else:
        print("not positive")
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    def then(x):
        ag.effect(print, "positive", x.shape)
        x = x - 1
        return x
    def otherwise(x):
        ag.effect(print, "not positive")
        return x
    x = ag.cond(x.sum() > 0, then, otherwise, (x,))
    return x
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
