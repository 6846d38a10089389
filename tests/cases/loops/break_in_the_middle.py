import torch


def settle(x: torch.Tensor):
    total = torch.zeros(())
    for _ in range(5):
        x = x / 2
        if x.norm() < 1:
            break  # close enough
        total = total + x.sum()
    return x, total
# output
import torch
import autograph_torch.runtime as ag


def settle(x: torch.Tensor):
    total = torch.zeros(())
    def step(_, x, total, loop):
        x = x / 2
        def otherwise(total):
            total = total + x.sum()
            return loop.next(x, total)
        return ag.cond(
            x.norm() < 1,
            # close enough
            lambda total: loop.stop(x, total),
            otherwise,
            (total,),
        )
    x, total = ag.for_steps(ag.range(5), step, (x, total))
    return x, total
# calls
settle(torch.tensor([3.0, 1.0]))
settle(torch.tensor([0.1]))
settle(torch.tensor([1e6]))
