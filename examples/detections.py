"""Detections by class, as objects in a dict: one graph for all frames whose data take the same path.

Which classes there are, and how many boxes of each, only the data tell; no operator of torch holds such a dict. So the
graph is for the path of the first frame, as a warning says. It checks the data of the next; the last one, which takes
another path, runs in Python.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass

import torch

from autograph_torch import OnePathWarning, autograph

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "inductor")


@dataclass
class Detection:
    box: torch.Tensor
    score: float


def by_class(boxes: torch.Tensor, scores: torch.Tensor) -> dict[int, list[Detection]]:
    """The boxes that are sure enough and overlap no better one of their class, by class."""
    kept: dict[int, list[Detection]] = {}
    for k in scores.amax(1).argsort(descending=True):
        score, label = scores[k].max(0)
        if score < 0.5:
            break
        same = kept.setdefault(int(label), [])
        if not any(overlap(boxes[k], one.box) > 0.5 for one in same):
            same.append(Detection(boxes[k], score.item()))
    return kept


def overlap(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Intersection over union of two boxes (x, y, x, y)."""
    low, high = torch.maximum(a[:2], b[:2]), torch.minimum(a[2:], b[2:])
    shared = (high - low).clamp(min=0).prod()
    return shared / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - shared)


def main() -> None:
    boxes = torch.tensor([[0.0, 0, 4, 4], [0, 0, 4, 5], [8, 8, 9, 9], [3, 3, 7, 7]])
    scores = torch.tensor([[0.9, 0.1], [0.8, 0.2], [0.1, 0.7], [0.3, 0.2]])
    frames = {"first": (boxes, scores), "moved": (boxes + 0.1, scores + 0.01), "another": (boxes, 1 - scores)}
    compiled = autograph(by_class, backend=BACKEND)
    for name, frame in frames.items():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", OnePathWarning)
            found = compiled(*frame)
        expected = by_class(*frame)
        assert list(found) == list(expected)
        for label, detections in expected.items():
            for one, other in zip(found[label], detections, strict=True):
                torch.testing.assert_close(one.box, other.box)
                assert one.score == other.score
        counts = {label: len(detections) for label, detections in found.items()}
        warned = any(issubclass(one.category, OnePathWarning) for one in told)
        print(f"{name} frame: {counts} boxes by class{', with a warning' if warned else ''}")


if __name__ == "__main__":
    main()
