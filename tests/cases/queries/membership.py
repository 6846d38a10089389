import torch


def func(t: torch.Tensor, v: int) -> torch.Tensor:
    if v in t:
        return t
    if v + 1 not in t:
        return -t
    return t * 0
# output
import torch
import autograph_torch.runtime as ag


def func(t: torch.Tensor, v: int) -> torch.Tensor:
    return ag.cond(
        ag.in_(v, t),
        lambda: t,
        lambda: ag.cond(ag.not_(ag.in_(v + 1, t)), lambda: -t, lambda: t * 0),
    )
# calls
func(torch.tensor([1, 2]), 1)
func(torch.tensor([1, 2]), 0)
func(torch.tensor([1, 2]), 5)
