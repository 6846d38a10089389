import torch


def settle(x: torch.Tensor) -> torch.Tensor:
    while True:
        x = x / 2
        if x.norm() < 1:
            break
        x = x - 0.1
    return x
# output
import torch
import autograph_torch.runtime as ag


def settle(x: torch.Tensor) -> torch.Tensor:
    def step(x, loop):
        x = x / 2
        def otherwise(x):
            x = x - 0.1
            return loop.next(x)
        return ag.cond(x.norm() < 1, lambda x: loop.stop(x), otherwise, (x,))
    (x,) = ag.while_steps(lambda x: True, step, (x,))
    return x
# calls
settle(torch.tensor([3.0, 1.0]))
settle(torch.tensor([0.1]))
