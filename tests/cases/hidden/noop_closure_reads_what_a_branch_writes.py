import torch


def stale(x: torch.Tensor):
    total = x * 0
    add = lambda: total + 1
    if x.sum() > 0:
        total = total + 5
        x = add()
    return x, total
