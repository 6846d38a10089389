"""What is measured: each workload as plain Python, and by hand with torch.cond and torch.while_loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

Inputs = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Workload:
    """One function in two forms, and inputs that together take every side of it."""

    name: str
    plain: Callable[..., Any]
    by_hand: Callable[..., Any]
    inputs: tuple[Inputs, ...]


def workloads(large: bool, device: str = "cpu") -> list[Workload]:
    """All workloads, for small inputs (the time goes into overhead) or large ones (it goes into arithmetic)."""
    torch.manual_seed(0)
    n, width = (1_000_000, 512) if large else (10, 32)
    a, b, start = torch.rand(n).to(device), torch.rand(n).to(device), torch.rand(2 * width).to(device)
    matrix = torch.randn(2 * width, 2 * width).to(device)
    matrix = matrix @ matrix.T / (2 * width) + 3 / width  # eigenvalues up to 4, and one of about 6
    rows = torch.randn(64 if large else 2, width).to(device)
    mlp, exits = Routed(width).to(device), EarlyExit(width).to(device)
    return [
        Workload("bar", bar, bar_by_hand, ((a, b), (a, -b))),
        Workload("branch of two MLPs", mlp, mlp.by_hand, ((rows.abs(),), (-rows.abs(),))),
        Workload("newton", newton, newton_by_hand, ((a + 1,), (100 * a + 1,))),
        Workload("power iteration", power_iteration, power_iteration_by_hand, ((matrix, start),)),
        Workload("bisection", bisection, bisection_by_hand, ((a,), (3 * b,))),
        Workload("early exit", exits, exits.by_hand, ((0.01 * rows,), (3 * rows,), (100 * rows,))),
    ]


def bar(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def bar_by_hand(a, b):
    x = a / (torch.abs(a) + 1)
    b = torch.cond(b.sum() < 0, lambda b: b * -1, lambda b: b.clone(), (b,))
    return x * b


def two_layers(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))


class Routed(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.path_a = two_layers(width)
        self.path_b = two_layers(width)

    def forward(self, x):
        if x.mean() > 0:  # noqa: SIM108 (written as users write it)
            x = self.path_a(x)
        else:
            x = self.path_b(x)
        return x

    def by_hand(self, x):
        return torch.cond(x.mean() > 0, self.path_a, self.path_b, (x,))


def newton(a):
    x = a
    while (x * x - a).abs().max() > 1e-4 * a.max():
        x = 0.5 * (x + a / x)
    return x


def newton_by_hand(a):
    def unfinished(x):
        return (x * x - a).abs().max() > 1e-4 * a.max()

    def step(x):
        return (0.5 * (x + a / x),)

    return torch.while_loop(unfinished, step, (a.clone(),))[0]


def power_iteration(matrix, v):
    for _ in range(200):
        w = matrix @ v
        w = w / w.norm()
        change = (w - v).norm()
        v = w
        if change < 1e-4:
            break
    return v @ (matrix @ v)


def power_iteration_by_hand(matrix, v):
    def unfinished(trip, v, change):
        return (trip < 200) & (change >= 1e-4)

    def step(trip, v, change):
        w = matrix @ v
        w = w / w.norm()
        return trip + 1, w, (w - v).norm()

    start = (torch.zeros((), dtype=torch.int64), v.clone(), torch.full((), torch.inf, device=v.device))
    v = torch.while_loop(unfinished, step, start)[1]
    return v @ (matrix @ v)


def bisection(weights):
    """The t at which the mean of exp(-t * weights) is a half."""
    low = torch.zeros((), device=weights.device)
    high = torch.full((), 100.0, device=weights.device)
    while high - low > 1e-3:
        middle = (low + high) / 2
        if torch.exp(-middle * weights).mean() > 0.5:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def bisection_by_hand(weights):
    def unfinished(low, high):
        return high - low > 1e-3

    def step(low, high):
        middle = (low + high) / 2
        return torch.cond(
            torch.exp(-middle * weights).mean() > 0.5,
            lambda: (middle.clone(), high.clone()),
            lambda: (low.clone(), middle.clone()),
            (),
        )

    start = (torch.zeros((), device=weights.device), torch.full((), 100.0, device=weights.device))
    low, high = torch.while_loop(unfinished, step, start)
    return (low + high) / 2


class EarlyExit(nn.Module):
    def __init__(self, width: int, depth: int = 4):
        super().__init__()
        self.blocks = nn.ModuleList(two_layers(width) for _ in range(depth))
        self.heads = nn.ModuleList(nn.Linear(width, 10) for _ in range(depth))

    def forward(self, x):
        for block, head in zip(self.blocks, self.heads):  # noqa: B905 (written as users write it)
            x = x + block(x)
            logits = head(x)
            if logits.softmax(dim=-1).amax(dim=-1).mean() > 0.3:
                return logits
        return logits

    def by_hand(self, x, depth: int = 0):
        x = x + self.blocks[depth](x)
        logits = self.heads[depth](x)
        if depth + 1 == len(self.blocks):
            return logits
        confident = logits.softmax(dim=-1).amax(dim=-1).mean() > 0.3
        return torch.cond(confident, lambda: logits.clone(), lambda: self.by_hand(x, depth + 1), ())
