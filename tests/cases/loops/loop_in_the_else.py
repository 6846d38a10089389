import torch


def twice(x: torch.Tensor, a: torch.Tensor):
    for row in x.nonzero():
        a = a + row.sum()
    else:
        for row in x.nonzero():
            a = a * 2 + row.sum()
    return a
# output
import torch
import autograph_torch.runtime as ag


def twice(x: torch.Tensor, a: torch.Tensor):
    (a,) = ag.for_loop(x.nonzero(), lambda row, a: (a + row.sum(),), (a,))
    (a,) = ag.for_loop(x.nonzero(), lambda row, a: (a * 2 + row.sum(),), (a,))
    return a
# calls
twice(torch.tensor([3.0, 0.0, 1.0]), torch.tensor(1.0))
twice(torch.tensor([0.0]), torch.tensor(1.0))
