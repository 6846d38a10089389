import torch


def func(x: torch.Tensor):
    if any(e < 1 for e in x if e > 0):
        x = x + 1
    return all(e < 3 for e in x if e > 0)
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor):
    x = ag.cond(
        ag.any_(ag.and_(e > 0, lambda: e < 1) for e in x),
        lambda: x + 1,
        lambda: x,
    )
    return bool(ag.all_((ag.or_(ag.not_(e > 0), lambda: e < 3) for e in x)))
# calls
func(torch.tensor([1.0, 2.0, 5.0]))
func(torch.tensor([0.5, -1.0, -5.0]))
func(torch.tensor([-1.0]))
