import torch


def func(x: torch.Tensor, y: torch.Tensor):
    z = x.sum() or y
    w = x.sum() and y
    return z, w
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, y: torch.Tensor):
    z = ag.cond((left := x.sum()), lambda: left, lambda: y)
    w = ag.cond((left_2 := x.sum()), lambda: y, lambda: left_2)
    return z, w
# calls
func(torch.tensor([0.0]), torch.tensor([5.0]))
func(torch.tensor([1.0]), torch.tensor([5.0]))
