import torch


def func(x: torch.Tensor):
    empty = not x.any()
    return empty, x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor):
    empty = bool(ag.not_(x.any()))
    return empty, x
# calls
func(torch.tensor([0.0]))
func(torch.tensor([1.0]))
