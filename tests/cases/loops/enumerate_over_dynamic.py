import torch


def func(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(())
    for i, index in enumerate(x.nonzero()):
        total = total + i * index.sum()
    return total
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(())
    def body(item, total):
        i, index = item
        total = total + i * index.sum()
        return (total,)
    (total,) = ag.for_loop(ag.enumerate(x.nonzero()), body, (total,))
    return total
# calls
func(torch.tensor([3.0, 0.0, 2.0]))
func(torch.tensor([0.0]))
