import torch


def func(x: torch.Tensor, k: int) -> torch.Tensor:
    if k < 0:
        raise ValueError(f"k is {k}, x has {x.max():.1f}")
    message = f"lowest {x.min():.1f}"
    if x.min() < 0:
        raise ValueError(message) from None
    if x.isnan().any():
        error = FloatingPointError("nan")
        raise error
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, k: int) -> torch.Tensor:
    if k < 0:
        raise ValueError(f"k is {k}, x has {x.max():.1f}")
    message = ag.text("lowest {:.1f}", x.min())
    ag.cond(x.min() < 0, lambda: ag.fail(ValueError, message))
    def then():
        error = FloatingPointError("nan")
        return ag.fail(error)
    ag.cond(x.isnan().any(), then)
    return x
# calls
func(torch.tensor([1.0]), 1)
func(torch.tensor([1.0]), -1)
func(torch.tensor([-1.0]), 1)
func(torch.tensor([float("nan")]), 1)
