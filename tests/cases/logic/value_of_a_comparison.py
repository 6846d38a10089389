import torch


def func(x: torch.Tensor):
    inside = x.min() >= 0.0 and x.max() <= 1.0
    return inside, (x.sum() > 1 or x.max() > 3)
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor):
    inside = ag.cond(
        (left := x.min() >= 0.0),
        lambda: x.max() <= 1.0,
        lambda: left,
    )
    return inside, ag.cond(
        (left_2 := x.sum() > 1),
        lambda: left_2,
        lambda: x.max() > 3,
    )
# calls
func(torch.ones(2))
func(-torch.ones(2))
func(torch.zeros(2))
