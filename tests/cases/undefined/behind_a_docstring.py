import torch


def func(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """Gives the last row."""
    while n > 0:
        last = x[0] * n
        n = n - 1
    return last
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """Gives the last row."""
    last = ag.undefined("last")
    def body(last, n):
        last = x[0] * n
        n = n - 1
        return last, n
    last, n = ag.while_loop(lambda last, n: n > 0, body, (last, n))
    return ag.bound(last)
# calls
func(torch.tensor([1.0]), torch.tensor(2))
func(torch.tensor([1.0]), torch.tensor(0))
