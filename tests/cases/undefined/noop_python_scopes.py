import torch


def func(x: torch.Tensor, flag: bool, n: int):
    """What Python alone may leave unbound stays Python's."""
    if flag:
        y = x + 1
    for i in range(n):
        last = x[i]
    try:
        z = x.view(-1)
    except RuntimeError:
        pass
    return y, last, z, i
