"""k-means: stop when no centre moves, give an empty cluster the point that fits worst."""

from __future__ import annotations

import os

import torch

from autograph_torch import autograph

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "inductor")


def kmeans(points: torch.Tensor, centres: torch.Tensor, max_steps: int = 100):
    """Centres, the cluster of each point, and the number of steps."""
    labels = torch.zeros(len(points), dtype=torch.long)
    for step in range(max_steps):
        distances = torch.cdist(points, centres)
        nearest, labels = distances.min(dim=1)
        members = torch.nn.functional.one_hot(labels, len(centres)).to(points.dtype)
        sizes = members.sum(dim=0)
        moved = members.T @ points / sizes.clamp(min=1).unsqueeze(1)
        if (sizes == 0).any():
            moved = torch.where((sizes == 0).unsqueeze(1), points[nearest.argmax(dim=0, keepdim=True)], moved)
        shift = (moved - centres).norm()
        centres = moved
        if shift < 1e-6:
            break
    return centres, labels, step + 1


def main() -> None:
    torch.manual_seed(0)
    compiled = autograph(kmeans, backend=BACKEND)
    blobs = torch.cat([torch.randn(100, 2) * 0.3 + torch.tensor(c) for c in ([0.0, 0.0], [4.0, 0.0], [0.0, 4.0])])
    starts = {"at one point of each blob": blobs[[0, 100, 200]], "far away": blobs[[0, 1, 2]] + 100 * torch.eye(3, 2)}
    for name, start in starts.items():
        centres, labels, steps = compiled(blobs, start)
        expected_centres, expected_labels, expected_steps = kmeans(blobs, start)
        torch.testing.assert_close(centres, expected_centres)
        assert torch.equal(labels, expected_labels)
        assert steps == expected_steps
        sizes = labels.bincount(minlength=3).tolist()
        print(f"started {name}: {steps} steps, clusters of {sizes}")


if __name__ == "__main__":
    main()
