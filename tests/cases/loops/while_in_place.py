import torch


def func(x: torch.Tensor, counts: torch.Tensor):
    while x.sum() > 1:
        counts += 1
        x = x - counts
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, counts: torch.Tensor):
    def body(x, counts):
        counts += 1
        x = x - counts
        return x, counts
    x, counts = ag.while_loop(
        lambda x, counts: x.sum() > 1,
        body,
        (x,),
        mutated=(counts,),
    )
    return x
# calls
(c := torch.zeros(1), func(torch.tensor([5.0]), c))
(c := torch.zeros(1), func(torch.tensor([0.0]), c))
