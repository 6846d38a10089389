import torch
from torch import nn


class Block(nn.Module):
    def forward(self, x, mask=None):
        if self.training:
            x = x * 2
        if mask is None:
            x = x + 1
        if x.dim() == 3:
            x = x.flatten(1)
        if isinstance(x, torch.Tensor) and x.dtype == torch.float16:
            x = x.float()
        if x.shape[0] == 1:
            x = x[0]
        return x


def choose(mode, table, *args):
    if mode == "up":
        return 1
    if table is None:
        return 2
    if args:
        return 3
    return 4 if mode is not None else 5
