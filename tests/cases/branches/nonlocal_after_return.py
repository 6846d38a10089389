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
        def otherwise(total):
            total = total + x
            return None, total
        result, total = ag.cond(
            x.sum() < 0,
            lambda total: (None, total),
            otherwise,
            (total,),
        )
        return result

    return add, lambda: total


def calls(value: float):
    add, total = running()
    return [add(torch.tensor([value, 1.0])), add(torch.ones(2)), total()]
# calls
calls(2.0)
calls(-2.0)
