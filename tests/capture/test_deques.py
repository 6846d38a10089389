"""Deques from outside of a trace keep their length."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
import torch

from autograph_torch import convert
from tests.harness import torch_before


def push(window: deque[Any], x: torch.Tensor) -> tuple[int, torch.Tensor]:
    window.append(x * 2)
    if x.sum() > 0:
        window.append(x * 3)
    return len(window), sum(window) + x


@pytest.mark.parametrize("length", [1, 2])
def test_length(length: int) -> None:
    compiled = torch.compile(convert(push), backend="eager", fullgraph=True)
    for value in (1.0, -1.0, 2.0):
        x = torch.full((2,), value)
        windows = [deque([torch.ones(2), torch.zeros(2)], maxlen=length) for _ in range(2)]
        expected, found = push(windows[0], x), compiled(windows[1], x)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(list(windows[1]), list(windows[0]))
        assert windows[1].maxlen == length


def test_torch_needs_it() -> None:
    def length(window: deque[int], x: torch.Tensor) -> torch.Tensor:
        window.append(3)
        return x + len(window)

    compiled = torch.compile(length, backend="eager", fullgraph=True)
    assert compiled(deque([1, 2], maxlen=2), torch.zeros(())) == 3, "remove autograph_torch/capture/deques.py"


@torch_before("2.13", "a deque cannot be repeated")
def test_torch_needs_it_for_copies() -> None:
    def lengths(x: torch.Tensor) -> tuple[int, int, int]:
        window = deque([x], maxlen=1)
        copy, none = window.copy(), deque([x], maxlen=0)
        copy.append(x)
        return len(copy), len(window * 2), len(none)

    assert lengths(torch.zeros(())) == (1, 1, 0)
    assert torch.compile(lengths, backend="eager", fullgraph=True)(torch.zeros(())) == (2, 2, 1), "see _keep_to_length"


def last_ones(x: torch.Tensor, length: int) -> torch.Tensor:
    kept: deque[torch.Tensor] = deque(maxlen=length)
    for v in x:
        kept.append(v if v > 0 else -v)
    return torch.stack(list(kept))


def test_length_from_an_argument_that_changes() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(last_ones), backend="eager", fullgraph=True)
    for length in (2, 3, 1):
        x = torch.tensor([1.0, -2.0, 3.0])
        torch.testing.assert_close(compiled(x, length), last_ones(x, length))
