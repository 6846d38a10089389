import torch


def func(x: torch.Tensor, training: bool) -> torch.Tensor:
    y = x if training else -x
    z = (y if x.shape[0] > 1 else y * 2) if y.sum() > 0 else y.abs()
    return z
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, training: bool) -> torch.Tensor:
    y = x if training else -x
    z = ag.cond(
        y.sum() > 0,
        lambda x, y: y if x.shape[0] > 1 else y * 2,
        lambda x, y: y.abs(),
        reads=(x, y),
    )
    return z
# calls
func(torch.tensor([3.0]), True)
func(torch.tensor([3.0, 1.0]), True)
func(torch.tensor([3.0]), False)
