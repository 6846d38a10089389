import torch


def func(x: torch.Tensor) -> torch.Tensor:
    for _ in range(3):
        x = x / 2
        if x.norm() < 1:
            break
    else:
        if x.max() > 100:
            return x
        x = x * 0
        return -x
    x = x + 1
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
    def then_2(x):
        def otherwise(x):
            x = x * 0
            return -x
        return ag.cond(x.max() > 100, lambda x: x, otherwise, (x,))
    def otherwise_2(x):
        x = x + 1
        return x
    return ag.cond(ag.not_(broke), then_2, otherwise_2, (x,))
# calls
func(torch.ones(2))
func(torch.full((2,), 20.0))
func(torch.full((2,), 2000.0))
