"""Bodies of operators read tensors that share memory, and numbers from outside, wherever they come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import autograph

BACKENDS = ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.slow)]


class Box:
    """Two names for parts of one tensor, which no text shows to be the same memory."""

    def __init__(self, base: torch.Tensor) -> None:
        self.whole = base
        self.part = base[1:3]


def in_both_branches(box: Box, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = box.whole[:2] * 2 + box.part
    else:
        y = box.part - 1
    return y


def one_a_branch(box: Box, x: torch.Tensor) -> torch.Tensor:
    return box.whole[:2] + 1 if x.sum() > 0 else box.part * 2


def in_a_loop(box: Box, x: torch.Tensor) -> torch.Tensor:
    while x.sum() < 20:
        if x.sum() > 3:
            x = x + box.whole[:2] + box.part
        else:
            x = x + box.part
    return x


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("function", [in_both_branches, one_a_branch, in_a_loop])
def test_shared_memory(function: Callable[..., Any], grad: bool, backend: str) -> None:
    for start in (torch.tensor([1.0, 1.0]), torch.tensor([-3.0, 2.0])):
        leaves = [torch.arange(4.0, requires_grad=grad) for _ in range(2)]
        with torch.set_grad_enabled(grad):
            expected = function(Box(leaves[0] * 1), start)
            actual = autograph(function, backend=backend)(Box(leaves[1] * 1), start)
        torch.testing.assert_close(actual, expected, rtol=0, atol=0)
        if grad:
            expected.sum().backward()
            actual.sum().backward()
            torch.testing.assert_close(leaves[1].grad, leaves[0].grad, rtol=0, atol=0)


def bump(tensor: torch.Tensor) -> None:
    tensor.add_(1)


def written_by_a_callee(box: Box, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        bump(box.whole)
        y = box.part * 2
    else:
        y = box.part - 1
    return y + 0


@pytest.mark.parametrize("grad", [True, False])
def test_a_write_of_a_callee_is_seen_through_every_view(grad: bool) -> None:
    for start in (torch.ones(2), -torch.ones(2)):
        boxes = Box(torch.arange(4.0)), Box(torch.arange(4.0))
        with torch.set_grad_enabled(grad):
            expected = written_by_a_callee(boxes[0], start)
            actual = autograph(written_by_a_callee, backend="eager")(boxes[1], start)
        torch.testing.assert_close(actual, expected, rtol=0, atol=0)
        torch.testing.assert_close(boxes[1].part, boxes[0].part, rtol=0, atol=0)
        torch.testing.assert_close(boxes[1].whole, boxes[0].whole, rtol=0, atol=0)


def scaled(flag: Any, factor: Any, y: torch.Tensor) -> torch.Tensor:
    if y.sum() > 3:
        if flag:
            y = y + factor
        return y * 2
    return y * factor


@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_from_outside(backend: str) -> None:
    def run(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return scaled(x.sum().item() > 2, x.mean().item(), y)

    compiled = autograph(run, backend=backend)
    for x in (torch.full((3,), 3.0), torch.full((3,), -5.0)):
        for y in (torch.zeros(3), torch.full((3,), 8.0)):
            torch.testing.assert_close(compiled(x, y), run(x, y), rtol=0, atol=0)
