import torch


def func(x: torch.Tensor) -> torch.Tensor:
    low = x.min()
    if low < 0:
        raise ValueError(f"lowest is {low}, not {0}")
    if x.max() > 9:
        raise OverflowError
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    low = x.min()
    ag.cond(
        low < 0,
        lambda: ag.fail(ValueError, ag.text("lowest is {}, not {}", low, 0)),
    )
    ag.cond(x.max() > 9, lambda: ag.fail(OverflowError))
    return x
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
func(torch.tensor([10.0]))
