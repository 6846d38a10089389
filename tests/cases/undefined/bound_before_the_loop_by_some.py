import torch


def func(x: torch.Tensor, wide: bool) -> torch.Tensor:
    if wide:
        bias = x.mean()
    while x.sum() > 1:
        x = x / 2
        bias = x.max()
    return x - bias
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, wide: bool) -> torch.Tensor:
    bias = ag.undefined("bias")
    if wide:
        bias = x.mean()
    def body(x, bias):
        x = x / 2
        bias = x.max()
        return x, bias
    x, bias = ag.while_loop(lambda x, bias: x.sum() > 1, body, (x, bias))
    return x - ag.bound(bias)
# calls
func(torch.tensor([1.0, 3.0]), True)
func(torch.tensor([0.1]), True)
func(torch.tensor([1.0, 3.0]), False)
func(torch.tensor([0.1]), False)
