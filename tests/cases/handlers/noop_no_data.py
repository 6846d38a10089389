import torch


def named(name: str) -> torch.Tensor:
    try:
        if not name:
            raise ValueError("no name")
        size = len(name)
    except ValueError:
        size = 1
    return torch.zeros(size)
