"""The second trace of a function finds the instructions of all that it follows."""

from __future__ import annotations

import torch
from torch import Tensor
from torch._dynamo import bytecode_transformation

from autograph_torch import convert


def halved(x: Tensor) -> tuple[Tensor, int]:
    """A loop, a branch in it, and a counter."""
    trips = 0
    while x.sum() > 1:
        x = x / 2 if x.max() > 1 else x - 0.1
        trips += 1
    return x, trips


def test_a_second_trace_takes_nothing_apart_again() -> None:
    kept = bytecode_transformation._cached_cleaned_instructions
    torch._dynamo.reset()
    torch.compile(convert(halved), backend="eager", fullgraph=True)(torch.ones(3))
    before = kept.cache_info()
    torch._dynamo.reset()
    torch.compile(convert(halved), backend="eager", fullgraph=True)(torch.ones(3))
    taken_apart = kept.cache_info().misses - before.misses
    assert before.currsize > 128  # what torch keeps
    assert taken_apart < 128 < kept.cache_info().hits - before.hits
