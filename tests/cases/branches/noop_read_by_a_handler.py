import torch


def func(x: torch.Tensor):
    n = 0
    try:
        if x.sum() > 0:
            n = 5
            torch.linalg.inv(x)
            n = 6
        while x.sum() < -9:
            n = n + 1
            x = torch.linalg.inv(x)
    except RuntimeError:
        x = x * n
    return x, n
