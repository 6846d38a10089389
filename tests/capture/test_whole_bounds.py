"""`range`, `enumerate` and `islice` count in whole numbers, and take none but those, also from data."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch.capture.whole_bounds import whole_bounds
from tests.harness import check, check_any_graph, compiled, integer, leave_out, program, vec

ROWS = [lambda: (vec(1, 1),), lambda: (vec(-1, 0),), lambda: (vec(3, 1),)]
FROM_THREE = [lambda row=row: (vec(*row), integer(3)) for row in ((1, 2), (-1, 2), (1, -2))]


@program(inputs=ROWS)
def float_from_data(x):
    n = 0
    try:
        for _ in range(x.sum().item()):
            n += 1
    except TypeError as error:
        return str(error)
    return n


@program(inputs=ROWS)
def tensor_of_floats(x):
    n = 0
    try:
        for _ in range(x.sum()):
            n += 1
    except TypeError as error:
        return str(error)
    return n


@program(inputs=ROWS)
def quotient_without_a_handler(x):
    n = 0
    for _ in range(int(x.sum()) / 2):
        n += 1
    return n


@program(inputs=ROWS)
def falls_back_to_a_rounded_one(x):
    half = x.sum().item() / 2
    try:
        trips = range(half)
    except TypeError:
        trips = range(round(half))
    return sum(k + 1 for k in trips)


@program(inputs=ROWS)
def listed(x):
    try:
        return [k * 2 for k in range(x.sum().item())]
    except TypeError:
        return [-1]


def trips_between(low, high):
    return range(low, high)


@program(inputs=ROWS)
def in_a_helper(x):
    n = 0
    try:
        for _ in trips_between(x.min().item(), int(x.max())):
            n += 1
    except TypeError as error:
        return str(error)
    return n


@program(inputs=ROWS)
def several_elements(x):
    n = 0
    try:
        for _ in range(x.long()):
            n += 1
    except TypeError as error:
        return str(error)
    return n


@program(inputs=ROWS)
def truth_values_and_a_single_element(x):
    n = 0
    for k in range(x.abs().sum(0, keepdim=True).long()):
        n += k + 1
    for k in range((x > 0).any()):
        n += k + 10
    for k in range(bool(x[0] > 0)):
        n += k + 100
    return n


STEPS = [lambda: (vec(1, 1),), lambda: (vec(-1, 1),), lambda: (vec(-3, 1),)]


@program(inputs=STEPS)
def step_that_may_be_zero(x):
    n = 0
    for k in range(0, 5, int(x.sum())):
        n += k + 1
    return n


@program(inputs=STEPS)
def handled_step_that_may_be_zero(x):
    n = 0
    try:
        for k in range(0, 5, int(x.sum())):
            n += k + 1
    except ValueError as error:
        return str(error)
    return n


@program(inputs=ROWS)
def step_that_is_zero(x):
    n = 0
    try:
        for _ in range(0, int(x.sum()), 0):
            n += 1
    except ValueError as error:
        return str(error)
    return n


@program(inputs=STEPS)
def handled_step_of_a_range_that_nobody_walks(x):
    try:
        range(0, 5, int(x.sum()))
    except ValueError as error:
        return str(error)
    return x.add_(1)


@program(inputs=FROM_THREE)
def rows_counted_from_a_tensor(x, k):
    i, marks = 0, []
    for i, v in enumerate(x, start=k + 1):
        if v < 0:
            break
        marks.append(i)
    return i, marks


@program(inputs=FROM_THREE)
def picked_rows_counted_from_a_tensor(x, k):
    i = 0
    for i, _ in enumerate(x[x > 0], k):
        pass
    return i


@program(inputs=FROM_THREE)
def list_counted_from_a_tensor(x, k):
    out = []
    for i, v in enumerate([1, 2, 3], k):
        if x[0] > v:
            break
        out.append(i)
    return out, dict(enumerate(x.tolist(), k))


@program(inputs=ROWS)
def rows_counted_from_a_float(x):
    n = 0
    try:
        for _, v in enumerate(x, x.sum().item()):
            if v < 0:
                break
            n += 1
    except TypeError as error:
        return str(error)
    return n


@program(inputs=ROWS)
def list_counted_from_tensors_of_floats(x):
    try:
        pairs = enumerate([1, 2, 3], x.sum())
    except TypeError as error:
        return str(error)
    return [k for k, v in pairs if x[0] < v]


@program(inputs=FROM_THREE)
def rows_counted_from_nothing(x, k):
    try:
        for k, v in enumerate(x, None):
            if v < 0:
                break
    except TypeError as error:
        return str(error)
    return k


@program(inputs=ROWS)
def slice_up_to_a_float(x):
    total = 0.0
    try:
        for v in itertools.islice(x.tolist(), x.sum().item()):
            if v < 0:
                break
            total += v
    except ValueError as error:
        return str(error)
    return total


@pytest.mark.parametrize(
    "subject",
    [
        float_from_data,
        tensor_of_floats,
        quotient_without_a_handler,
        falls_back_to_a_rounded_one,
        listed,
        in_a_helper,
        several_elements,
        truth_values_and_a_single_element,
        step_that_may_be_zero,
        handled_step_that_may_be_zero,
        step_that_is_zero,
        handled_step_of_a_range_that_nobody_walks,
        rows_counted_from_a_tensor,
        picked_rows_counted_from_a_tensor,
        list_counted_from_a_tensor,
        rows_counted_from_a_float,
        list_counted_from_tensors_of_floats,
        rows_counted_from_nothing,
        slice_up_to_a_float,
    ],
)
def test_counts_in_whole_numbers(subject: Callable[..., Any]) -> None:
    check_any_graph(subject)


def test_a_constant_step_of_zero_raises_in_one_graph() -> None:
    assert check(step_that_is_zero.__program__, "eager").kind == "equal"  # type: ignore[attr-defined]


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(k: Tensor) -> list[tuple[int, str]]:
        try:
            return list(enumerate("ab", k))
        except TypeError:
            return []

    leave_out(monkeypatch, whole_bounds)
    assert counted(torch.tensor(3)) == [(3, "a"), (4, "b")]
    assert compiled(counted)(torch.tensor(3)) == [], "remove autograph_torch/capture/whole_bounds.py"
