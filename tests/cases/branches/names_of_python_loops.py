import torch


def check(constraints: list, x: torch.Tensor):
    for constraint in constraints:
        valid = constraint(x)
        if not valid.all():
            raise ValueError(f"not {constraint}")
    return x
# output
import torch
import autograph_torch.runtime as ag


def check(constraints: list, x: torch.Tensor):
    for constraint in constraints:
        valid = constraint(x)
        ag.cond(
            ag.not_(valid.all()),
            lambda: ag.fail(ValueError, ag.text("not {}", constraint)),
        )
    return x
# calls
check([torch.isfinite], torch.ones(2))
check([torch.isnan], torch.ones(2))
check([], -torch.ones(2))
