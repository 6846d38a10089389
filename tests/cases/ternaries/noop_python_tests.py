import torch


def func(x: torch.Tensor, training: bool, mask=None):
    y = x * 2 if training else x
    z = y if mask is None else y * mask
    n = x.shape[0] if x.dim() > 1 else 1
    pairs = [row if i % 2 == 0 else -row for i, row in enumerate(x)]
    return z, n, pairs, "wide" if n > 4 else "narrow"
