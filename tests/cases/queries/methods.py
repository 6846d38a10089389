import torch


def func(a: torch.Tensor, b: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    if a.equal(b) or torch.is_nonzero(t):
        a = a + 1
    return a
# output
import torch
import autograph_torch.runtime as ag


def func(a: torch.Tensor, b: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    a = ag.cond(
        ag.or_else(ag.equal(a, b), lambda: ag.is_nonzero(t)),
        lambda: a + 1,
        lambda: a,
    )
    return a
# calls
func(torch.tensor([1.0]), torch.tensor([1.0]), torch.tensor(0))
func(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor(0))
func(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor(3))
