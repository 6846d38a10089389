import torch


def search(values: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    low = torch.tensor(0)
    high = torch.tensor(values.shape[0])
    while low < high:
        middle = (low + high) // 2
        if values[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low
# output
import torch
import autograph_torch.runtime as ag


def search(values: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    low = torch.tensor(0)
    high = torch.tensor(values.shape[0])
    def body(low, high):
        middle = (low + high) // 2
        def then(middle, high):
            low = middle + 1
            return low, high
        def otherwise(middle, high):
            high = middle
            return low, high
        low, high = ag.cond(
            values[ag.index(middle)] < key,
            then,
            otherwise,
            reads=(middle, high),
        )
        return low, high
    low, high = ag.while_loop(lambda low, high: low < high, body, (low, high))
    return low
# calls
search(torch.tensor([1.0, 2.0, 3.0]), torch.tensor(2.5))
search(torch.tensor([1.0, 2.0, 3.0]), torch.tensor(0.5))
search(torch.tensor([1.0, 2.0, 3.0]), torch.tensor(3.5))
search(torch.tensor([]), torch.tensor(3.5))
