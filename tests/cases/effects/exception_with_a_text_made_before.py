import warnings

import torch


def func(x: torch.Tensor) -> torch.Tensor:
    if x.min() < 0:
        error = ValueError(f"lowest is {x.min():.1f}", x.shape)
        raise error
    if x.max() > 9:
        warnings.warn(RuntimeWarning(f"highest is {x.max():.1f}"))
    return x
# output
import warnings

import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    def then():
        error = ValueError(ag.text("lowest is {:.1f}", x.min()), x.shape)
        return ag.fail(error)
    ag.cond(x.min() < 0, then)
    ag.cond(
        x.max() > 9,
        lambda: ag.effect(
            warnings.warn,
            RuntimeWarning(ag.text("highest is {:.1f}", x.max())),
        ),
    )
    return x
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
func(torch.tensor([10.0]))
