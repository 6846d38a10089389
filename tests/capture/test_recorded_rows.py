"""Rows of a list that data make longer are one tensor: all of them record a gradient, or the call goes on one path."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch.diagnostics import OnePathWarning
from tests.harness import compiled, vec

INPUTS = ((3.0, 4.0, 1.0), (0.5, 0.4, 0.1), (-0.5, 0.3, 0.9))


def states_of_a_cell(w: Tensor) -> Any:
    """The first state records none, what comes of it does: by the weights."""
    h, states = torch.zeros(3), []
    while h.sum() < 3 and len(states) < 4:
        h = torch.tanh(h + 1) * w.abs() + 0.2
        states.append(h)
    return states


def steps_of_a_descent(w: Tensor) -> Any:
    y, steps = w * 2, []
    while y.abs().sum() > 1:
        y = y - 0.4 * y
        steps.append(y * 3)
    return steps


def pairs_of_one_that_does_and_one_that_does_not(w: Tensor) -> Any:
    y, pairs = w * 1, []
    while y.abs().sum() > 1:
        y = y / 2
        pairs.append((y.detach() * 2, y * 3))
    return pairs


def stacked(w: Tensor) -> Any:
    y, path = torch.zeros(3), [torch.zeros(3)]
    while y.sum() < 3 and len(path) < 6:
        path.append(y)
        y = y + w.abs()
    return torch.stack(path), len(path)


def from_what_records_none(w: Tensor) -> Any:
    y, path = torch.zeros(3), []
    while y.sum() < 3:
        path.append(y)
        y = y + w.abs()
    return path


def first_of_these(w: Tensor) -> Any:
    y, path = torch.zeros(3), [torch.ones(3)]
    while y.sum() < 3:
        path.append(y * 2)
        y = y + w.abs()
    return path[-2] * 2


def some_under_no_grad(w: Tensor) -> Any:
    found = []
    for v in w:
        with torch.no_grad():
            if v > 1:
                continue
            found.append(v * 2)
        found.append(v * 3)
    return found


def of_two_branches(w: Tensor) -> Any:
    y, path = w * 1, []
    while y.abs().sum() > 1:
        y = y / 2
        if y[0] > 0.4:
            path.append(y * 2)
        else:
            path.append(y.detach() * 3)
    return path


def told(function: Callable[[Tensor], Any], numbers: tuple[float, ...]) -> Any:
    """What a call gives, and which of its tensors record a gradient."""

    def part(one: Any) -> Any:
        if isinstance(one, Tensor):
            return one.requires_grad, [round(number, 5) for number in one.flatten().tolist()]
        return [part(item) for item in one] if isinstance(one, (list, tuple)) else one

    return part(function(vec(*numbers).requires_grad_()))


def on_one_path(function: Callable[[Tensor], Any]) -> bool:
    """Whether there is no graph for all data, after the calls have been compared."""
    subject = compiled(function)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", OnePathWarning)
        for numbers in INPUTS:
            assert told(subject, numbers) == told(function, numbers)
    return any(one.category is OnePathWarning for one in warned)


@pytest.mark.parametrize(
    "function", [states_of_a_cell, steps_of_a_descent, pairs_of_one_that_does_and_one_that_does_not, stacked]
)
def test_rows_that_are_alike(function: Callable[[Tensor], Any]) -> None:
    assert not on_one_path(function)


@pytest.mark.parametrize("function", [from_what_records_none, first_of_these, some_under_no_grad, of_two_branches])
def test_rows_of_which_some_record(function: Callable[[Tensor], Any]) -> None:
    assert on_one_path(function)
