"""The functions that the articles about torch.compile and its graph breaks show."""

import torch
from torch import nn

from tests.harness import flags, ints, program, randn


@program(inputs=[lambda: (ints(1, 2, 3),), lambda: (ints(-1, -2, -3),)])
def func(x: torch.Tensor):
    all_pos = torch.all(x >= 0)
    if all_pos:
        return x + 10
    else:
        return x - 10


@program(inputs=[lambda: (randn(5, 5), randn(5, 5, seed=1)), lambda: (-randn(5, 5), randn(5, 5, seed=1))])
def f1(x, y):
    if x.sum() < 0:
        return -y
    return y


@program(inputs=[lambda: (torch.ones(10), torch.ones(10)), lambda: (torch.ones(10), -3 * torch.ones(10))])
def bar(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


@program(inputs=[lambda: (randn(4, 16),), lambda: (randn(4, 16) * 0,)])
class MyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        x = self.linear(x)
        print(f"Shape: {x.shape}")
        return x.relu()


@program(inputs=[lambda: (randn(1, 3, 12, 12),), lambda: (randn(1, 3, 12, 12) * 0,)])
class ProblematicModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3)
        self.conv2 = nn.Conv2d(8, 4, 3)

    def forward(self, x):
        x = self.conv1(x)
        if x.max() > 0.5:
            x = x * 2
        x = self.conv2(x)
        return x


@program(inputs=[lambda: (randn(4, 8) + 4,), lambda: (randn(4, 8) - 4,)])
class PathAOrPathB(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 8)
        self.path_a = nn.Linear(8, 8)
        self.path_b = nn.Linear(8, 8)

    def forward(self, x):
        x = self.encoder(x)
        if x.mean() > 0:
            x = self.path_a(x)
        else:
            x = self.path_b(x)
        return x


@program(inputs=[lambda: (randn(4, 8), flags(1, 0, 1, 1)), lambda: (randn(4, 8), flags(1, 0, 0, 0))])
class ScaleByItem(nn.Module):
    def __init__(self):
        super().__init__()
        self.process = nn.Linear(8, 8)

    def forward(self, x, mask):
        x = self.process(x)
        num_valid = mask.sum().item()
        scale = 1.0 / num_valid
        x = x * scale
        return x


@program(inputs=[lambda: (randn(2, 6),), lambda: (randn(2, 6) * 3,)])
class SlowModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(4)])

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i % 2 == 0:
                x = x.clone()
        return x
