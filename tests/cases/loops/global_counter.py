import torch

n = 0


def count(x: torch.Tensor):
    global n
    for v in x:
        if v > 1:
            break
        n = n + 1
    return x
# output
import torch
import autograph_torch.runtime as ag

n = 0


def count(x: torch.Tensor):
    global n
    def step(v, n, loop):
        def otherwise(n):
            n = n + 1
            return loop.next(n)
        return ag.cond(v > 1, lambda n: loop.stop(n), otherwise, (n,))
    (n,) = ag.for_steps(x, step, (n,))
    return x
# calls
count(torch.tensor([3.0, 1.0]))
count(torch.tensor([0.1, 0.2, 3.0]))
