import torch


def func(x: torch.Tensor, xs: list[torch.Tensor], n: int):
    total = torch.zeros(()) + sum(e * n for e in x if e > 0)
    count = len([e for e in x if e > 0 if e < 3])
    short = sum(len(name) for name in ("a", "bb") if name != "a")
    return total, count, short
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, xs: list[torch.Tensor], n: int):
    total = torch.zeros(()) + ag.sum_((e > 0, lambda: e * n) for e in x)
    count = ag.sum_(((ag.and_(e > 0, lambda: e < 3), lambda: 1) for e in x))
    short = sum(len(name) for name in ("a", "bb") if name != "a")
    return total, count, short
# calls
func(torch.tensor([1.0, 2.0, 5.0]), [], 2)
func(torch.tensor([-1.0, -2.0]), [], 3)
func(torch.tensor([]), [], 3)
