import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
        self.gates = nn.ParameterList([torch.ones(()) * 0.1 for _ in range(3)])

    def forward(self, x):
        for layer, gate in zip(self.layers, self.gates):
            update = layer(x) * gate
            if update.norm() < 0.1:
                break
            x = x + update
        return x
# output
import torch
from torch import nn
import autograph_torch.runtime as ag


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
        self.gates = nn.ParameterList([torch.ones(()) * 0.1 for _ in range(3)])

    def forward(self, x):
        def step(item, x, loop):
            layer, gate = item
            update = layer(x) * gate
            def otherwise(x):
                x = x + update
                return loop.next(x)
            return ag.cond(
                update.norm() < 0.1,
                lambda x: loop.stop(x),
                otherwise,
                (x,),
            )
        (x,) = ag.for_steps(zip(self.layers, self.gates), step, (x,))
        return x
# calls
(torch.manual_seed(0), Gated()(torch.tensor([1.0, 2.0])))[1]
(torch.manual_seed(0), Gated()(torch.tensor([0.0, 0.0])))[1]
