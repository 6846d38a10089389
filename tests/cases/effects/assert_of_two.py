import torch


def func(x: torch.Tensor):
    assert (x.any() and x.min() >= 0), "negative"
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor):
    ag.cond(
        ag.not_(ag.and_(x.any(), lambda: x.min() >= 0)),
        lambda: ag.fail(AssertionError, "negative"),
    )
    return x
# calls
func(torch.ones(2))
func(-torch.ones(2))
