import torch


def halve(x: torch.Tensor):
    n = 0
    while x.norm() > 1:  # too long
        # halve
        x = x / 2
        n = n + 1
    return x, n
# output
import torch
import autograph_torch.runtime as ag


def halve(x: torch.Tensor):
    n = 0
    def body(x, n):  # too long
        # halve
        x = x / 2
        n = n + 1
        return x, n
    x, n = ag.while_loop(lambda x, n: x.norm() > 1, body, (x, n))
    return x, n
# calls
halve(torch.tensor([3.0, 1.0]))
halve(torch.tensor([0.1]))
