import torch


def func(x):
    all_pos = torch.all(x >= 0)
    if all_pos:
        return x + 10
    else:
        return x - 10
# output
import torch
import autograph_torch.runtime as ag


def func(x):
    all_pos = torch.all(x >= 0)
    return ag.cond(all_pos, lambda: x + 10, lambda: x - 10)
# calls
func(torch.tensor([1.0, 2.0]))
func(torch.tensor([1.0, -2.0]))
