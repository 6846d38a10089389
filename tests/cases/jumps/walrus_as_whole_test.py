import torch


def drain(x: torch.Tensor):
    while more := x.sum() > 1:
        x = x / 2
    return x, more
# output
import torch
import autograph_torch.runtime as ag


def drain(x: torch.Tensor):
    more = ag.undefined("more")
    def step(more, x, loop):
        more = x.sum() > 1
        def otherwise(x):
            x = x / 2
            return loop.next(more, x)
        return ag.cond(
            ag.not_(more),
            lambda x: loop.stop(more, x),
            otherwise,
            (x,),
        )
    more, x = ag.while_steps(lambda more, x: True, step, (more, x))
    return x, more
# calls
drain(torch.tensor([3.0]))
drain(torch.tensor([0.5]))
