import torch


def settle(x: torch.Tensor, steps: int):
    n = 0
    while n < steps and x.norm() > 1:
        x = x / 2
        n += 1
    return x, n
# output
import torch
import autograph_torch.runtime as ag


def settle(x: torch.Tensor, steps: int):
    n = 0
    def body(x, n):
        x = x / 2
        n += 1
        return x, n
    x, n = ag.while_loop(
        lambda x, n: ag.and_(n < steps, lambda: x.norm() > 1),
        body,
        (x, n),
    )
    return x, n
# calls
settle(torch.tensor([3.0, 1.0]), 10)
settle(torch.tensor([3.0, 1.0]), 1)
settle(torch.tensor([0.1]), 10)
settle(torch.tensor([3.0]), 0)
