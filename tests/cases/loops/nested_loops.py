import torch


def func(x: torch.Tensor, n: int) -> torch.Tensor:
    for _ in range(n):
        y = x
        while y.max() > 1:
            y = y / 2
            x = x + 1
        x = x - y
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, n: int) -> torch.Tensor:
    for _ in range(n):
        y = x
        def body(y, x):
            y = y / 2
            x = x + 1
            return y, x
        y, x = ag.while_loop(lambda y, x: y.max() > 1, body, (y, x))
        x = x - y
    return x
# calls
func(torch.tensor([3.0, 2.0]), 2)
func(torch.tensor([3.0, 2.0]), 0)
func(torch.tensor([0.1]), 3)
