"""A trace that fails on a number which a branch has picked from constants is made once more, with both of them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, convert, trace

POSITIVE, NEGATIVE = torch.tensor([1.0, 2.0]), torch.tensor([-1.0, -2.0])


def by_name(x: torch.Tensor) -> Any:
    k = 1 if x.sum() > 0 else 0
    return ("negative", "positive")[k], x * k


def by_size(x: torch.Tensor) -> torch.Tensor:
    k = 1 if x.sum() > 0 else 2
    return torch.ones(k) * k


def of_data(x: torch.Tensor) -> Any:
    k = int(x.sum()) if x.sum() > 0 else 1
    return x.chunk(k)


def test_both_numbers() -> None:
    compiled = torch.compile(convert(by_name), backend="eager", fullgraph=True)
    for x in (POSITIVE, NEGATIVE):
        expected, found = by_name(x), compiled(x)
        assert found[0] == expected[0]
        torch.testing.assert_close(found[1], expected[1])


def test_only_where_it_must_be_known() -> None:
    """torch takes a size that is a symbol: nothing moves into the branches."""
    graph = trace(by_size, POSITIVE).graph
    assert torch.ones in [node.target for node in graph.nodes]


def test_of_data() -> None:
    with pytest.raises(CaptureError, match="AG321"):
        torch.compile(convert(of_data), backend="eager", fullgraph=True)(POSITIVE)
