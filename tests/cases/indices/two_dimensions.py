import torch


def func(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(())
    while i > 0:
        i = i - 1
        total = total + x[i, 0] * x[i + 1, :].sum()
    return total
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(())
    def body(i, total):
        i = i - 1
        total = total + x[ag.index(i), 0] * x[ag.index(i + 1), :].sum()
        return i, total
    i, total = ag.while_loop(lambda i, total: i > 0, body, (i, total))
    return total
# calls
func(torch.ones(4, 2), torch.tensor(3))
func(torch.ones(4, 2), torch.tensor(0))
