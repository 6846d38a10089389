import torch
from torch import nn


class Early(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if x.max() > 1:
                return x
        return -x
# output
import torch
from torch import nn
import autograph_torch.runtime as ag


class Early(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])

    def forward(self, x):
        def step(layer, x, loop):
            x = layer(x)
            return ag.cond(
                x.max() > 1,
                lambda: loop.exit(x),
                lambda: loop.next(x),
            )
        return ag.for_steps(self.layers, step, (x,), after=lambda x: -x)
# calls
(torch.manual_seed(0), Early()(torch.tensor([1.0, 2.0])))[1]
(torch.manual_seed(0), Early()(torch.tensor([100.0, 200.0])))[1]
