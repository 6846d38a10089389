import torch


def func(x: torch.Tensor):
    last = torch.zeros(1)
    for row in x.nonzero():
        last = row
    return last
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor):
    last = torch.zeros(1)
    (last,) = ag.for_loop(x.nonzero(), lambda row, last: (row,), (last,))
    return last
# calls
func(torch.ones(2))
func(torch.zeros(3))
