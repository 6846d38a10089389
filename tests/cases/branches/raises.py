import torch


def checked(x: torch.Tensor) -> torch.Tensor:
    if x.isnan().any():
        raise ValueError("x has a NaN")
    return x.sqrt()
# output
import torch
import autograph_torch.runtime as ag


def checked(x: torch.Tensor) -> torch.Tensor:
    ag.cond(x.isnan().any(), lambda: ag.fail(ValueError, "x has a NaN"))
    return x.sqrt()
# calls
checked(torch.tensor([1.0, 2.0]))
checked(torch.tensor([1.0, float("nan")]))
