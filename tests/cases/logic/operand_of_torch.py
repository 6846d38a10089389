import torch


def func(x: torch.Tensor) -> torch.Tensor:
    y = x.sum()
    if torch.isnan(y) and x.dtype == torch.float16:
        y = x.float().sum()
    return y + 1
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    y = x.sum()
    y = ag.cond(
        ag.and_(torch.isnan(y), lambda: x.dtype == torch.float16),
        lambda: x.float().sum(),
        lambda: y,
    )
    return y + 1
# calls
func(torch.tensor([1.0]))
func(torch.tensor([float("nan")]))
func(torch.tensor([float("nan")], dtype=torch.float16))
