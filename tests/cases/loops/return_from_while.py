import torch


def search(x: torch.Tensor, target: float) -> torch.Tensor:
    """Doubles until the target is met."""
    while x.sum() < 100:
        x = x * 2
        if (x > target).any():
            return x
    return -x
# output
import torch
import autograph_torch.runtime as ag


def search(x: torch.Tensor, target: float) -> torch.Tensor:
    """Doubles until the target is met."""
    def step(x, loop):
        x = x * 2
        return ag.cond(
            (x > target).any(),
            lambda: loop.exit(x),
            lambda: loop.next(x),
        )
    return ag.while_steps(
        lambda x: x.sum() < 100,
        step,
        (x,),
        after=lambda x: -x,
    )
# calls
search(torch.tensor([3.0, 1.0]), 50.0)
search(torch.tensor([3.0, 1.0]), 500.0)
search(torch.tensor([300.0, 1.0]), 500.0)
