import torch
from torch import nn


class Outer:
    class Inner(nn.Module):
        def forward(self, x):
            if x.sum() > 0:
                y = x + 1
            else:
                y = x - 1
            return y

    @staticmethod
    def shrink(x: torch.Tensor) -> torch.Tensor:
        if x.norm() > 1:
            x = x / x.norm()
        return x
# output
import torch
from torch import nn
import autograph_torch.runtime as ag


class Outer:
    class Inner(nn.Module):
        def forward(self, x):
            y = ag.cond(x.sum() > 0, lambda: x + 1, lambda: x - 1)
            return y

    @staticmethod
    def shrink(x: torch.Tensor) -> torch.Tensor:
        x = ag.cond(x.norm() > 1, lambda: x / x.norm(), lambda: x)
        return x
# calls
Outer.Inner()(torch.tensor([3.0]))
Outer.Inner()(torch.tensor([-3.0]))
Outer.shrink(torch.tensor([-3.0]))
Outer.shrink(torch.tensor([-0.3]))
