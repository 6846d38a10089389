import torch


def func(x: torch.Tensor, y: torch.Tensor):
    a = (x.any() and y.any())
    b = (x.any() or y.any()) + 1
    c = (  # why
        x.any() and y.any())
    if not(x.any() and y.any()):
        b = b + 1
    return a, b, c
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, y: torch.Tensor):
    a = ag.cond((left := x.any()), lambda: y.any(), lambda: left)
    b = ag.cond((left_2 := x.any()), lambda: left_2, lambda: y.any()) + 1
    c = (  # why
        ag.cond((left_3 := x.any()), lambda: y.any(), lambda: left_3))
    b = ag.cond(
        ag.not_(ag.and_(x.any(), lambda: y.any())),
        lambda: b + 1,
        lambda: b,
    )
    return a, b, c
# calls
func(torch.ones(2), torch.zeros(2))
func(torch.zeros(2), torch.ones(2))
