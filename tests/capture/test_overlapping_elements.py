"""Writes in branches and loops to tensors whose elements overlap in memory (runtime/memories.py)."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import autograph
from autograph_torch.diagnostics import CaptureError
from autograph_torch.runtime.memories import overlaps_itself
from tests.harness import agreement, program, vec

INPUTS = [lambda: (vec(1, 2, 8, 4, 5),), lambda: (vec(-1, 2, 8, 4, 5),), lambda: (vec(-1, 2, -8, 4, -5),)]


@program(inputs=INPUTS)
def windows_in_a_branch(x: Tensor) -> Any:
    windows = x.unfold(0, 3, 2)
    if x.sum() > 0:
        windows[0].mul_(0.5)
    if x[0] > 0:
        windows[1].mul_(0.5)
    return x, windows + 0


@program(inputs=INPUTS)
def windows_in_a_loop(x: Tensor) -> Any:
    windows = (x * 1).unfold(0, 3, 2)
    while x.sum() > 4:
        windows[0].mul_(0.5)
        windows[1].add_(1)
        x = x - 3
    return windows.sum(1)


@program(inputs=[lambda: (vec(1, 2, 8, 4, 5).unfold(0, 3, 2),), lambda: (vec(-1, 2, -8, 4, -5).unfold(0, 3, 2),)])
def windows_of_the_caller(windows: Tensor) -> Tensor:
    if windows.sum() > 0:
        windows[0].mul_(0.5)
    return windows + 1


@program(inputs=INPUTS)
def windows_of_a_branch(x: Tensor) -> Tensor:
    if x.sum() > 0:
        windows = (x + 1).unfold(0, 3, 2)
    else:
        windows = (x * 2).unfold(0, 3, 2)
    windows[0].mul_(0.5)
    return windows


@program(inputs=INPUTS)
def windows_before_a_loop(x: Tensor) -> Tensor:
    windows = (x * 1).unfold(0, 3, 2)
    while x.sum() > 4:
        windows[0].mul_(0.5)
        windows = windows + 1
        x = x - 3
    return windows


@pytest.mark.parametrize("subject", [windows_in_a_branch, windows_in_a_loop, windows_of_the_caller])
def test_a_write_to_one_is_one_to_all_in_its_place(subject: Any) -> None:
    verdict = agreement(subject.__program__, "eager")
    assert verdict.kind == "equal", verdict.reason


@pytest.mark.parametrize("subject", [windows_of_a_branch, windows_before_a_loop])
def test_what_an_operator_hands_out_does_not_overlap(subject: Any) -> None:
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match=r"AG314 .* elements overlap in memory[\s\S]*`\.contiguous\(\)`"):
        autograph(subject.__program__.make(), backend="eager")(*INPUTS[0]())
    verdict = agreement(subject.__program__, "any graph")
    assert verdict.kind == "equal", verdict.reason


@pytest.mark.parametrize(
    "tensor, overlaps",
    [
        (torch.zeros(5).unfold(0, 3, 2), True),
        (torch.zeros(6).unfold(0, 3, 3), False),
        (torch.zeros(4, 6).t()[::2, 1:], False),
        (torch.zeros(1, 3).expand(4, 3), True),
        (torch.zeros(1, 3).expand(1, 3), False),
        (torch.zeros(11).as_strided((3, 3), (3, 2)), True),
        (torch.zeros(9).as_strided((3, 2), (3, 2)), False),
    ],
)
def test_whether_elements_lie_in_one_place(tensor: Tensor, overlaps: bool) -> None:
    assert overlaps_itself(tensor) is overlaps
