import torch


def func(x: torch.Tensor, mode: str) -> torch.Tensor:
    match mode:
        case "up":
            if x.sum() < 0:
                x = -x
        case _:
            x = x * 2
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, mode: str) -> torch.Tensor:
    match mode:
        case "up":
            x = ag.cond(x.sum() < 0, lambda: -x, lambda: x)
        case _:
            x = x * 2
    return x
# calls
func(torch.tensor([3.0]), "up")
func(torch.tensor([-3.0]), "up")
func(torch.tensor([-3.0]), "down")
