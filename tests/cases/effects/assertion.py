import torch


def func(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    assert (x > 0).all(), f"x has {x.min():.1f}"
    assert x.dim() == 1
    assert y.isfinite().all()
    return x.log() + y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    ag.cond(
        ag.not_((x > 0).all()),
        lambda: ag.fail(AssertionError, ag.text("x has {:.1f}", x.min())),
    )
    assert x.dim() == 1
    ag.cond(ag.not_(y.isfinite().all()), lambda: ag.fail(AssertionError))
    return x.log() + y
# calls
func(torch.tensor([1.0]), torch.tensor([1.0]))
func(torch.tensor([-1.0]), torch.tensor([1.0]))
func(torch.tensor([1.0]), torch.tensor([float("nan")]))
func(torch.tensor([[1.0]]), torch.tensor([1.0]))
