import torch


def cumulative(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(())
    last = total
    for i in range(n):
        last = total
        total = total + x.sum() * i
    return total - last
# output
import torch
import autograph_torch.runtime as ag


def cumulative(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(())
    last = total
    def body(i, last, total):
        last = total
        total = total + x.sum() * i
        return last, total
    last, total = ag.for_loop(ag.range(n), body, (last, total))
    return total - last
# calls
cumulative(torch.tensor([3.0, 1.0]), torch.tensor(0))
cumulative(torch.tensor([3.0, 1.0]), torch.tensor(1))
cumulative(torch.tensor([3.0, 1.0]), torch.tensor(4))
