import torch


def same(sizes: list, x: torch.Tensor):
    all_equal = not sizes or all(x.sum() == size for size in sizes)
    if all_equal:
        x = x + 1
    return x
# output
import torch
import autograph_torch.runtime as ag


def same(sizes: list, x: torch.Tensor):
    all_equal = not sizes or bool(ag.all_(x.sum() == size for size in sizes))
    x = ag.cond(all_equal, lambda: x + 1, lambda: x)
    return x
# calls
same([], torch.ones(2))
same([2.0, 2.0], torch.ones(2))
same([2.0, 3.0], torch.ones(2))
