import torch


def func(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if (x.any() or y.any()) and not (x.all() and y.all()):
        return x - y
    return x + y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return ag.cond(
        ag.and_(
            ag.or_(x.any(), lambda: y.any()),
            lambda: ag.not_(ag.and_(x.all(), lambda: y.all())),
        ),
        lambda: x - y,
        lambda: x + y,
    )
# calls
func(torch.tensor([1.0]), torch.tensor([1.0]))
func(torch.tensor([1.0]), torch.tensor([0.0]))
func(torch.tensor([0.0]), torch.tensor([0.0]))
