"""Early exit: a stack of transformer-like blocks that stops as soon as its prediction is confident enough.

The loop runs over a Python list of layers, the exit depends on data. Training and inference use the same forward.
"""

from __future__ import annotations

import os

import torch
import torch.nn.functional as F
from torch import nn

from autograph_torch import autograph

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "eager")


class Block(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attention(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class EarlyExit(nn.Module):
    def __init__(self, width: int = 32, classes: int = 10, depth: int = 4, threshold: float = 0.3):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads=4) for _ in range(depth))
        self.heads = nn.ModuleList(nn.Linear(width, classes) for _ in range(depth))
        self.threshold = threshold

    def forward(self, x):
        for depth, (block, head) in enumerate(zip(self.blocks, self.heads)):
            x = block(x)
            logits = head(x.mean(dim=1))
            confidence = logits.softmax(dim=-1).amax(dim=-1)
            if confidence.min() > self.threshold:
                return logits, depth + 1
        return logits, len(self.blocks)


def main() -> None:
    torch.manual_seed(0)
    model = EarlyExit()
    compiled = autograph(model, backend=BACKEND)
    for scale in (0.1, 1.0, 30.0):
        x = scale * torch.randn(2, 5, 32)
        logits, depth = model(x)
        compiled_logits, compiled_depth = compiled(x)
        torch.testing.assert_close(compiled_logits, logits)
        assert compiled_depth == depth
        print(f"inputs of size {scale:4}: exit after block {compiled_depth} of {len(model.blocks)}")

    x = torch.randn(2, 5, 32)
    expected = torch.autograd.grad(model(x)[0].square().sum(), model.blocks[0].mlp[0].weight)
    actual = torch.autograd.grad(compiled(x)[0].square().sum(), model.blocks[0].mlp[0].weight)
    torch.testing.assert_close(actual, expected)
    print("the gradients agree with eager")


if __name__ == "__main__":
    main()
