import torch


def bins(x: torch.Tensor):
    if x.sum() > 10:
        y = x + 1  # many
        n = 1
    else:
        y = x - 1
        n = 2
    return y, n

# output
import torch


def bins(x: torch.Tensor):
    def then(x):
        y = x + 1  # many
        n = 1
        return y, torch.full((), n).view(torch.float64)
    def otherwise(x):
        y = x - 1
        n = 2
        return y, torch.full((), n).view(torch.float64)
    y, n = torch.cond(x.sum() > 10, then, otherwise, (x,))
    n = n.detach().view(torch.int64).item()
    return y, n

# calls
bins(torch.ones(12))
bins(torch.ones(2))
