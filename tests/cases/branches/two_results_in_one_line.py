import torch


def ordered(a: torch.Tensor, b: torch.Tensor):
    if a.sum() > b.sum():
        a, b = b, a
    return a, b
# output
import torch
import autograph_torch.runtime as ag


def ordered(a: torch.Tensor, b: torch.Tensor):
    a, b = ag.cond(
        a.sum() > b.sum(),
        lambda a, b: (b, a),
        lambda a, b: (a, b),
        reads=(a, b),
    )
    return a, b
# calls
ordered(torch.tensor([1.0]), torch.tensor([2.0]))
ordered(torch.tensor([2.0]), torch.tensor([1.0]))
