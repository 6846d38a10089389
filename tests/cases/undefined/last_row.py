import torch


def last_positive(x: torch.Tensor) -> torch.Tensor:
    for row in x.nonzero():
        index = row[0]
    return x[index]
# output
import torch
import autograph_torch.runtime as ag


def last_positive(x: torch.Tensor) -> torch.Tensor:
    index = ag.undefined("index")
    (index,) = ag.for_loop(x.nonzero(), lambda row, index: (row[0],), (index,))
    return x[ag.bound(index)]
# calls
last_positive(torch.tensor([1.0, 0.0, 2.0]))
last_positive(torch.tensor([0.0]))
