import torch


def func(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        print("positive")
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    ag.cond(x.sum() > 0, lambda: ag.effect(print, "positive"))
    return x
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
