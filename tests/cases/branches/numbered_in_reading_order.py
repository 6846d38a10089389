import torch


def func(x: torch.Tensor):
    if x.sum() > 0:
        x = x + 1
        y = x * 2
    # nothing there
    elif x.sum() == 0:
        x = x - 1
        y = x
    # the rest
    else:
        x = x - 3
        y = 2 * x
    return x, y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor):
    def then(x):
        x = x + 1
        y = x * 2
        return x, y
    def otherwise(x):
        # nothing there
        def then_2(x):
            x = x - 1
            y = x
            return x, y
        # the rest
        def otherwise_2(x):
            x = x - 3
            y = 2 * x
            return x, y
        return ag.cond(x.sum() == 0, then_2, otherwise_2, (x,))
    x, y = ag.cond(x.sum() > 0, then, otherwise, (x,))
    return x, y
# calls
func(torch.ones(2))
func(torch.zeros(2))
func(-torch.ones(2))
