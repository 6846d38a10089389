import torch


def func(x: torch.Tensor, n: int):
    count = 0
    limit: float = 1.0
    if x.sum() > limit:
        count += n
        limit = 2.0
    return x * limit, count
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, n: int):
    count = 0
    limit: float = 1.0
    def then(count, limit):
        count += n
        limit = 2.0
        return count, limit
    count, limit = ag.cond(
        x.sum() > limit,
        then,
        lambda count, limit: (count, limit),
        (count,),
        reads=(limit,),
    )
    return x * limit, count
# calls
func(torch.tensor([1.0, 2.0]), 3)
func(torch.tensor([-1.0]), 3)
