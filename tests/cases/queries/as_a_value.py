import torch


def func(a: torch.Tensor, b: torch.Tensor):
    same = torch.equal(a, b)
    if same:
        a = a * 2
    return a, same
# output
import torch
import autograph_torch.runtime as ag


def func(a: torch.Tensor, b: torch.Tensor):
    same = ag.equal(a, b)
    a = ag.cond(same, lambda: a * 2, lambda: a)
    return a, same
# calls
func(torch.tensor([0.5]), torch.tensor([0.5]))
func(torch.tensor([0.5]), torch.tensor([0.25]))
