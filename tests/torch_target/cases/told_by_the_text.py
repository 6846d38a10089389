import torch


def func(x: torch.Tensor):
    all_pos = torch.all(x >= 0)
    if all_pos:
        return x + 10
    else:
        return x - 10

# output
import torch


def func(x: torch.Tensor):
    all_pos = torch.all(x >= 0)
    return torch.cond(all_pos, lambda x: x + 10, lambda x: x - 10, (x,))

# calls
func(torch.ones(2))
func(-torch.ones(2))
