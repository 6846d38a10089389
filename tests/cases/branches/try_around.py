import torch


def func(x: torch.Tensor, table: dict):
    try:
        scale = table["scale"]
    except KeyError:
        scale = 1.0
    if x.sum() > 0:
        x = x * scale
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, table: dict):
    try:
        scale = table["scale"]
    except KeyError:
        scale = 1.0
    x = ag.cond(x.sum() > 0, lambda: x * scale, lambda: x)
    return x
# calls
func(torch.tensor([3.0]), {"scale": 2.0})
func(torch.tensor([3.0]), {})
func(torch.tensor([-3.0]), {})
