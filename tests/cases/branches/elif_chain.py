import torch


def sign_of_sum(x: torch.Tensor) -> torch.Tensor:
    s = x.sum()
    if s > 0:
        label = torch.ones(())
    elif s < 0:
        label = -torch.ones(())
    else:
        label = torch.zeros(())
    return label
# output
import torch
import autograph_torch.runtime as ag


def sign_of_sum(x: torch.Tensor) -> torch.Tensor:
    s = x.sum()
    label = ag.cond(
        s > 0,
        lambda: torch.ones(()),
        lambda: ag.cond(
            s < 0,
            lambda: -torch.ones(()),
            lambda: torch.zeros(()),
        ),
    )
    return label
# calls
sign_of_sum(torch.tensor([1.0, 2.0]))
sign_of_sum(torch.tensor([-1.0, -2.0]))
sign_of_sum(torch.tensor([-1.0, 1.0]))
