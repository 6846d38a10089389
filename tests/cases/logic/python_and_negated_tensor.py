import torch


def check(x: torch.Tensor, strict: bool):
    if strict and not x.all():
        raise ValueError(f"zeros in {x}")
    if x is None or not (0 < x).all():
        x = x + 1
    return x
# output
import torch
import autograph_torch.runtime as ag


def check(x: torch.Tensor, strict: bool):
    ag.cond(
        strict and ag.not_(x.all()),
        lambda: ag.fail(ValueError, ag.text("zeros in {}", x)),
    )
    x = ag.cond(x is None or ag.not_((0 < x).all()), lambda: x + 1, lambda: x)
    return x
# calls
check(torch.ones(2), True)
check(torch.zeros(2), True)
check(torch.zeros(2), False)
check(-torch.ones(2), True)
