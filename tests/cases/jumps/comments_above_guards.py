import torch


def f(x: torch.Tensor):
    y = x + 1

    # nothing to do
    if x.sum() == 0:
        return x

    # the rest
    y = y * 2
    z = y + 1
    return z * x


def g(xs: torch.Tensor, limit: torch.Tensor):
    total = limit * 0
    for x in xs:
        # skip small ones
        if x.sum() < limit:
            continue
        # add it
        total = total + x.sum()
        limit = limit + 1
    return total


def h(x: torch.Tensor):
    # both
    if x.sum() == 0:
        # a
        x = x + 1
        y = x
    else:
        y = x
        # b
        x = y * 2
    return x, y
# output
import torch
import autograph_torch.runtime as ag


def f(x: torch.Tensor):
    y = x + 1

    def otherwise(y):
        # the rest
        y = y * 2
        z = y + 1
        return z * x
    # nothing to do
    return ag.cond(x.sum() == 0, lambda y: x, otherwise, (y,))


def g(xs: torch.Tensor, limit: torch.Tensor):
    total = limit * 0
    for x in xs:
        def otherwise(total, limit):
            # add it
            total = total + x.sum()
            limit = limit + 1
            return total, limit
        # skip small ones
        total, limit = ag.cond(
            x.sum() < limit,
            lambda total, limit: (total, limit),
            otherwise,
            (total, limit),
        )
    return total


def h(x: torch.Tensor):
    # both
    def then(x):
        # a
        x = x + 1
        y = x
        return x, y
    def otherwise(x):
        y = x
        # b
        x = y * 2
        return x, y
    x, y = ag.cond(x.sum() == 0, then, otherwise, (x,))
    return x, y
# calls
f(torch.ones(2))
f(torch.zeros(2))
g(torch.arange(6.0).reshape(3, 2), torch.tensor(3.0))
h(torch.ones(2))
h(torch.zeros(2))
