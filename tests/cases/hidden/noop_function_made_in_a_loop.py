import torch


def stale(x: torch.Tensor):
    total = x * 0
    add = lambda: total
    while total.sum() < 3:
        total = total + 1
        add = lambda: total
    total = total + 7
    return x, add()
