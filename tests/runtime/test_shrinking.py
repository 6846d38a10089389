"""A tensor that gains rows in a loop is no shrinking one: the graph stops, and the call runs in Python if it can."""

from __future__ import annotations

import pytest
import torch

from autograph_torch import autograph, convert


def repeated(x):
    while x.sum() < 8:
        x = torch.cat([x, x[x > 1]])
    return x


def test_the_graph_stops():
    compiled = autograph(repeated, backend="eager", effects="drop")
    with pytest.raises(RuntimeError, match="more rows after a trip of a loop than it began with"):
        compiled(torch.tensor([1.0, 2.0]))
    assert compiled(torch.tensor([9.0])).tolist() == [9.0]


def test_the_call_runs_in_python():
    given = torch.tensor([1.0, 2.0])
    for compiled in (
        autograph(repeated, backend="eager"),
        torch.compile(convert(repeated), fullgraph=True, backend="eager"),
    ):
        assert torch.equal(compiled(given), repeated(given))
