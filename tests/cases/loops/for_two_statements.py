import torch


def powers(x: torch.Tensor, k: torch.Tensor):
    total = x
    for i in range(1, k):
        x = x * i
        total = total + x  # all of them
    return total
# output
import torch
import autograph_torch.runtime as ag


def powers(x: torch.Tensor, k: torch.Tensor):
    total = x
    def body(i, x, total):
        x = x * i
        total = total + x  # all of them
        return x, total
    x, total = ag.for_loop(ag.range(1, k), body, (x, total))
    return total
# calls
powers(torch.tensor([3.0, 1.0]), torch.tensor(4))
powers(torch.tensor([3.0, 1.0]), torch.tensor(1))
powers(torch.tensor([3.0, 1.0]), torch.tensor(0))
