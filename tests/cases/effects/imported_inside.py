import torch


def func(x: torch.Tensor) -> torch.Tensor:
    from rich import print

    if x.sum() > 0:
        print("positive")
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    from rich import print

    ag.cond(x.sum() > 0, lambda: ag.effect(print, "positive"))
    return x
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
