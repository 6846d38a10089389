import torch


def func(x: torch.Tensor, y: torch.Tensor, scale: int):
    z = (x.sum() > 0 and scale) or y.sum()
    w = x.sum() > 0 and y.sum() > 0 and y.sum() or 0.5
    v = (scale > 1 and scale) or x.sum()
    return z, w, v
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, y: torch.Tensor, scale: int):
    z = ag.cond(x.sum() > 0, lambda: scale or y.sum(), lambda: y.sum())
    w = ag.cond(
        ag.and_(x.sum() > 0, lambda: y.sum() > 0),
        lambda: ag.cond((left := y.sum()), lambda: left, lambda: 0.5),
        lambda: 0.5,
    )
    v = (scale > 1 and scale) or x.sum()
    return z, w, v
# calls
func(torch.tensor([0.0]), torch.tensor([5.0]), 2)
func(torch.tensor([1.0]), torch.tensor([5.0]), 1)
func(torch.tensor([1.0]), torch.tensor([5.0]), 0)
func(torch.tensor([1.0]), torch.tensor([-5.0]), 3)
