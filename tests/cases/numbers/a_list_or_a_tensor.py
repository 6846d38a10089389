import torch


def padded(values, size: int):
    if not isinstance(values, list):
        values = values.tolist()
    if len(values) % size != 0:
        values.extend(values[-1] for _ in range(size - len(values) % size))
    return values
# output
import torch
import autograph_torch.runtime as ag


def padded(values, size: int):
    if not isinstance(values, list):
        values = ag.tolist(values)
    if len(values) % size != 0:
        values.extend(values[-1] for _ in range(size - len(values) % size))
    return values
# calls
padded([1, 2, 3], 2)
padded(torch.tensor([1, 2, 3]), 2)
