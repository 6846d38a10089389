import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.clip = True

    def forward(self, x):
        h = self.linear(x)
        if self.clip and h.norm() > 1:
            h = h / h.norm()
        return h
# output
import torch
from torch import nn
import autograph_torch.runtime as ag


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.clip = True

    def forward(self, x):
        h = self.linear(x)
        h = ag.cond(
            self.clip and h.norm() > 1,
            lambda: h / h.norm(),
            lambda: h,
        )
        return h
# calls
(torch.manual_seed(0), Norm()(torch.tensor([1.0, 2.0])))[1]
(torch.manual_seed(0), Norm()(torch.tensor([0.1, 0.1])))[1]
