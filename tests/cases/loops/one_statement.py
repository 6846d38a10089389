import torch


def func(x: torch.Tensor):
    while x.norm() > 1:
        x = x / 2  # halve
    a, b = x.sum(), x.norm()
    while (a < 100) & (b > 0):
        a, b = a + b, a.abs() + b
    for row in x.nonzero():
        a = a + row.sum()
    for row in x.nonzero():
        a = (
            a * 2
            + 1
        )
    return x, a, b
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor):
    # halve
    (x,) = ag.while_loop(lambda x: x.norm() > 1, lambda x: (x / 2,), (x,))
    a, b = x.sum(), x.norm()
    a, b = ag.while_loop(
        lambda a, b: (a < 100) & (b > 0),
        lambda a, b: (a + b, a.abs() + b),
        (a, b),
    )
    (a,) = ag.for_loop(x.nonzero(), lambda row, a: (a + row.sum(),), (a,))
    def body(row, a):
        a = (
            a * 2
            + 1
        )
        return (a,)
    (a,) = ag.for_loop(x.nonzero(), body, (a,))
    return x, a, b
# calls
func(torch.ones(2))
func(torch.tensor([3.0, -9.0]))
func(torch.zeros(3))
