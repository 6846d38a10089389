"""`heapq.nlargest` and what calls it."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import Any

import pytest
import torch

from autograph_torch import convert


def ranked(x: torch.Tensor) -> Any:
    counts = Counter("abracadabra")
    if x.sum() > 0:
        x = x + 1
    numbers = [3, 1, 2, 3]
    parts = [heapq.nlargest(n, numbers) + heapq.nsmallest(n, numbers, key=lambda k: -k) for n in (-1, 0, 1, 2, 9)]
    return x, counts.most_common(1), counts.most_common(3), counts.most_common(), parts


def test_ranked() -> None:
    compiled = torch.compile(convert(ranked), backend="eager", fullgraph=True)
    assert compiled(torch.ones(2))[1:] == ranked(torch.ones(2))[1:]


def test_torch_needs_it() -> None:
    def first(x: torch.Tensor) -> Any:
        return x, Counter("abracadabra").most_common(1)

    with pytest.raises(torch._dynamo.exc.TorchDynamoException):
        torch.compile(first, backend="eager", fullgraph=True)(torch.ones(1))
