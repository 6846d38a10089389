import torch


def func(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if x.any() and not y.all():
        return x
    if x.sum() > 1 or y.sum() > 1 or x.isnan().any():
        return y
    return x + y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return ag.cond(
        ag.and_(x.any(), lambda: ag.not_(y.all())),
        lambda: x,
        lambda: ag.cond(
            ag.or_(x.sum() > 1, lambda: y.sum() > 1, lambda: x.isnan().any()),
            lambda: y,
            lambda: x + y,
        ),
    )
# calls
func(torch.tensor([1.0]), torch.tensor([0.0]))
func(torch.tensor([2.0]), torch.tensor([1.0]))
func(torch.tensor([0.0]), torch.tensor([1.0]))
