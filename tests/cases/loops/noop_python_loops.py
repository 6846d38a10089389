import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(depth)])
        self.depth = depth

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        for index, (name, parameter) in enumerate(self.named_parameters()):
            if name.endswith("bias") and index > 0:
                continue
            x = x + parameter.sum()
        for size in range(x.dim()):
            x = x.sum(size, keepdim=True)
        return x


def rows(x: torch.Tensor, n: int, parts: list):
    total = 0
    while n > 0:
        n -= 1
        if n == 3:
            break
    for row in x:
        total = total + row
    for part, (first, *rest) in zip(parts, [(1, 2), (3, 4)]):
        total = total + part * first
    for i in range(x.shape[0]):
        total = total + i
    squares = [i * i for i in range(4)]
    return total, squares, {k: v for k, v in zip("ab", x)}


async def stream(source):
    async for item in source:
        if item is None:
            break
        print(item) if False else None
    return (i for i in range(3))
