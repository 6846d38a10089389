import torch


def func(x: torch.Tensor):
    assert not x.isnan().any(), "not a number"
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor):
    ag.cond(x.isnan().any(), lambda: ag.fail(AssertionError, "not a number"))
    return x
# calls
func(torch.ones(2))
func(torch.tensor([float("nan")]))
