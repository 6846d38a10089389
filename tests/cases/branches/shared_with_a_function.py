import torch


def counted(x: torch.Tensor):
    total = x * 0
    calls = 0
    add = lambda: total + 1

    def count(by):
        nonlocal calls
        calls += by

    if x.sum() > 0:
        total = total + 5
        x = add()
        count(1)
    while x.sum() > 1:
        count(2)
        calls = calls + 1
        x = x / 2
    return x, total, calls
# output
import torch
import autograph_torch.runtime as ag


def counted(x: torch.Tensor):
    total = x * 0
    calls = 0
    add = lambda: total + 1

    def count(by):
        nonlocal calls
        calls += by

    def then():
        nonlocal total
        total = total + 5
        x = add()
        count(1)
        return x
    x = ag.cond(x.sum() > 0, then, lambda: x)
    def body(x):
        nonlocal calls
        count(2)
        calls = calls + 1
        x = x / 2
        return (x,)
    (x,) = ag.while_loop(lambda x: x.sum() > 1, body, (x,))
    return x, total, calls
# calls
counted(torch.ones(2))
counted(-torch.ones(2))
