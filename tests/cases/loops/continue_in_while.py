import torch


def func(x: torch.Tensor) -> torch.Tensor:
    n = torch.zeros(())
    while x.sum() > 1:
        x = x / 2
        if x.max() < 3:
            continue
        n = n + 1
    return n
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    n = torch.zeros(())
    def body(x, n):
        x = x / 2
        n = ag.cond(x.max() < 3, lambda: n, lambda: n + 1)
        return x, n
    x, n = ag.while_loop(lambda x, n: x.sum() > 1, body, (x, n))
    return n
# calls
func(torch.tensor([30.0, 1.0]))
func(torch.tensor([2.0]))
func(torch.tensor([0.1]))
