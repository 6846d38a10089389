"""A training step that clips large gradients and skips the update when one is not finite, as one graph."""

from __future__ import annotations

import os

import torch
from torch import nn

from autograph_torch import autograph

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "inductor")


def clip(gradients: list[torch.Tensor], max_norm: float) -> list[torch.Tensor]:
    total = torch.stack([g.norm() for g in gradients]).norm()
    if total > max_norm:
        gradients = [g * (max_norm / total) for g in gradients]
    return gradients


def sgd(parameters: list[torch.Tensor], gradients: list[torch.Tensor], skipped: torch.Tensor, lr: float = 0.1):
    """New parameters, and the count of updates that were skipped."""
    if any(not g.isfinite().all() for g in gradients):
        return parameters, skipped + 1
    gradients = clip(gradients, max_norm=1.0)
    return [p - lr * g for p, g in zip(parameters, gradients)], skipped


def train(update, batches: list[tuple[torch.Tensor, torch.Tensor]]):
    """Fit a small network; `update` is `sgd` or what was made of it."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    skipped = torch.tensor(0)
    losses = []
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x), y)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            new, skipped = update([p.data for p in model.parameters()], list(gradients), skipped)
            for parameter, value in zip(model.parameters(), new):
                parameter.copy_(value)
        losses.append(loss.item())
    return losses, skipped.item()


def main() -> None:
    torch.manual_seed(1)
    batches = [(x := torch.randn(32, 4), x.sum(dim=1, keepdim=True)) for _ in range(30)]
    batches[10] = (batches[10][0] * float("inf"), batches[10][1])  # a broken batch
    batches[20] = (batches[20][0], batches[20][1] * 1000)  # an outlier
    expected_losses, expected_skipped = train(sgd, batches)
    losses, skipped = train(autograph(sgd, backend=BACKEND), batches)
    torch.testing.assert_close(torch.tensor(losses), torch.tensor(expected_losses), equal_nan=True)
    assert skipped == expected_skipped
    print(f"{len(batches)} batches, {skipped} skipped, loss {losses[0]:.3f} at the start, {losses[-1]:.3f} at the end")


if __name__ == "__main__":
    main()
