import torch


def func(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if torch.equal(a, b):
        return a
    if torch.allclose(a, b, rtol=1e-3):
        return b
    return a + b
# output
import torch
import autograph_torch.runtime as ag


def func(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return ag.cond(
        ag.equal(a, b),
        lambda: a,
        lambda: ag.cond(
            ag.allclose(a, b, rtol=1e-3),
            lambda: b,
            lambda: a + b,
        ),
    )
# calls
func(torch.tensor([1.0]), torch.tensor([1.0]))
func(torch.tensor([1.0]), torch.tensor([1.0001]))
func(torch.tensor([1.0]), torch.tensor([2.0]))
