import torch


def settle(x: torch.Tensor) -> torch.Tensor:
    for i in range(10):
        x = x / 2
        if x.norm() < 1:
            break
    return x
# output
import torch
import autograph_torch.runtime as ag


def settle(x: torch.Tensor) -> torch.Tensor:
    def step(i, x, loop):
        x = x / 2
        return ag.cond(
            x.norm() < 1,
            lambda: loop.stop(x),
            lambda: loop.next(x),
        )
    (x,) = ag.for_steps(ag.range(10), step, (x,))
    return x
# calls
settle(torch.tensor([3.0, 1.0]))
settle(torch.tensor([0.1]))
settle(torch.tensor([1e6]))
