"""A whole training step in one graph: the loss, its gradients, a test of their norm, and the optimizer's step.

torch.compile breaks the graph at `zero_grad`, `backward` and the test, and twice around `step`. Here they are one, and
the parameters, the state of Adam and what is printed are eager's. The first step makes the state, so that it has a
graph of its own; all others share one.
"""

from __future__ import annotations

import copy
import os

import torch
import torch.nn.functional as F
from torch import nn

from autograph_torch import autograph

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "inductor")


def step(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor) -> tuple[float, bool]:
    """One step on a batch; its loss, and whether the gradients were too large."""
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    clipped = bool(norm > 1.0)
    if clipped:
        print(f"gradients of norm {norm.item():.2f}, clipped")
    optimizer.step()
    return loss.item(), clipped


def main() -> None:
    torch.manual_seed(0)
    models = [nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))]
    models.append(copy.deepcopy(models[0]))
    optimizers = [torch.optim.Adam(model.parameters(), lr=0.02) for model in models]
    compiled = autograph(step, backend=BACKEND)
    x = torch.randn(32, 8)
    for epoch in range(4):
        y = x.sum(1, keepdim=True) * (3.0 if epoch == 1 else 0.3)
        found = compiled(models[0], optimizers[0], x, y)
        expected = step(models[1], optimizers[1], x, y)
        torch.testing.assert_close(found, expected)
        print(f"step {epoch}: loss {found[0]:.4f}{', clipped' if found[1] else ''}")
    torch.testing.assert_close(list(models[0].parameters()), list(models[1].parameters()))
    torch.testing.assert_close(optimizers[0].state_dict(), optimizers[1].state_dict())
    print("parameters and the state of Adam agree with eager")


if __name__ == "__main__":
    main()
