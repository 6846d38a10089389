import torch


def func(x: torch.Tensor, names: list[str]):
    known = len([name for name in names if name != "x"])
    sizes = sum(n for n in x.shape if n > 1)
    kept = [e * 2 for e in (1, 2, 3) if e > known]
    return x * known, sizes, kept
