import torch


def running():
    total = torch.zeros(2)

    def add(x: torch.Tensor):
        nonlocal total
        if x.sum() < 0:
            return None
        total = total + x

    return add, lambda: total


def calls(value: float):
    add, total = running()
    return [add(torch.tensor([value, 1.0])), add(torch.ones(2)), total()]
# output
import torch
import autograph_torch.runtime as ag


def running():
    total = torch.zeros(2)

    def add(x: torch.Tensor):
        nonlocal total
        returned = ag.undefined("returned")
        def step(_, returned, total, loop):
            def then(total):
                returned = None
                return loop.stop(returned, total)
            def otherwise(total):
                total = total + x
                returned = None
                return loop.next(returned, total)
            return ag.cond(x.sum() < 0, then, otherwise, (total,))
        returned, total = ag.for_steps(ag.once(), step, (returned, total))
        return returned

    return add, lambda: total


def calls(value: float):
    add, total = running()
    return [add(torch.tensor([value, 1.0])), add(torch.ones(2)), total()]
# calls
calls(2.0)
calls(-2.0)
