import torch


def func(x: torch.Tensor) -> torch.Tensor:
    y = x
    # both must be large
    if (total := x.sum()) > 2 and (largest := x.max()) > 1.5:
        y = total + largest
    return y


def either(x: torch.Tensor, n: int) -> torch.Tensor:
    if n > 2 or (least := x.min()) > 0:
        return x
    return least * 2
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    y = x
    # both must be large
    y = ag.cond(
        (total := x.sum()) > 2,
        lambda x, y: ag.cond(
            (largest := x.max()) > 1.5,
            lambda: total + largest,
            lambda: y,
        ),
        lambda x, y: y,
        reads=(x, y),
    )
    return y


def either(x: torch.Tensor, n: int) -> torch.Tensor:
    if n > 2:
        return x
    else:
        return ag.cond((least := x.min()) > 0, lambda: x, lambda: least * 2)
# calls
func(torch.tensor([3.0, 1.0]))
func(torch.tensor([1.0, 1.4]))
func(torch.tensor([-3.0]))
either(torch.tensor([3.0]), 1)
either(torch.tensor([-3.0]), 1)
either(torch.tensor([3.0]), 3)
