import torch


def bar(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b
# output
import torch
import autograph_torch.runtime as ag


def bar(a, b):
    x = a / (torch.abs(a) + 1)
    b = ag.cond(b.sum() < 0, lambda: b * -1, lambda: b)
    return x * b
# calls
bar(torch.tensor([1.0, 2.0]), torch.tensor([3.0]))
bar(torch.tensor([1.0, 2.0]), torch.tensor([-3.0]))
