import torch


def func(x: torch.Tensor) -> torch.Tensor:
    for _ in range(3):
        x = x / 2
        if x.norm() < 1:
            break
    else:
        x = x * 0
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    broke = False
    def step(_, x, broke, loop):
        x = x / 2
        def then():
            broke = True
            return loop.stop(x, broke)
        return ag.cond(x.norm() < 1, then, lambda: loop.next(x, broke))
    x, broke = ag.for_steps(ag.range(3), step, (x, broke))
    x = ag.cond(ag.not_(broke), lambda: x * 0, lambda: x)
    return x
# calls
func(torch.tensor([3.0, 2.0]))
func(torch.tensor([30000.0]))
