import torch


def func(x: torch.Tensor, clip: bool, name: str, mask=None):
    if clip and mask is not None:
        x = x + 1
    if not clip or x.dim() < 2 <= x.ndim:
        x = x - 1
    if 0 < x.shape[0] < 5 and not (mask is None or name):
        x = x * 2
    if any(size > 3 for size in x.shape) or all(d.isdigit() for d in name):
        x = x / 2
    label = name or "none"
    wide = not x.is_contiguous()
    return x, label, wide


def keeps(x: torch.Tensor, both: torch.Tensor):
    """`is` and the operators that tensors have themselves are left to Python."""
    mask = (x > 0) & ~(both > 1) | x.isnan()
    return x[mask], x is not both
