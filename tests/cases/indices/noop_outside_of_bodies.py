import torch


def func(values: torch.Tensor, middle: torch.Tensor, pairs: list):
    """Outside of branches and loops of the graph every index is torch's own business."""
    first = values[middle]
    second = values[middle - 1, ...]
    third = values[values > 0]
    for i in range(3):
        third = third + values[i] + pairs[i]
    return first, second, third, values[0], values[-1:], values[:, None]
