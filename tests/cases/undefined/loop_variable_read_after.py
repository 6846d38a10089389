import torch


def func(x: torch.Tensor, n: torch.Tensor):
    for i in range(n):
        x = x * i
    return x, i
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, n: torch.Tensor):
    i = ag.undefined("i")
    def body(next_i, x, i):
        i = next_i
        x = x * i
        return x, i
    x, i = ag.for_loop(ag.range(n), body, (x, i))
    return x, ag.bound(i)
# calls
func(torch.tensor([1.0]), torch.tensor(2))
func(torch.tensor([1.0]), torch.tensor(0))
