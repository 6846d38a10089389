"""Floats that data give are added up as Python does: from 3.12 on with what is rounded off."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch.capture import compensated_sums
from autograph_torch.runtime import sums, totals
from tests.harness import check_any_graph, compiled, program

NUMBERS = [
    [1e16, 1.0, -1e16, 0.5],
    [0.1, 0.2, 0.3, 0.7, 1e3, 1e-3],
    [1e308, 1e308, -1e308, 1.0],
    [-0.0, -0.0],
    [math.inf, 1.0, -2.0],
    [3.0, -math.inf, math.inf],
    [],
]


def neumaier(numbers: Sequence[float]) -> float:
    """Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974; as in CPython 3.12."""
    total, lost = 0 + numbers[0] if numbers else 0, 0.0
    for one in numbers[1:]:
        new = total + one
        lost += (total - new) + one if abs(total) >= abs(one) else (one - new) + total
        total = new
    return total + lost if lost and math.isfinite(lost) else total


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Python 3.12, whatever the tests run on."""
    for module in (sums, totals, compensated_sums):
        monkeypatch.setattr(module, "KEEPS_ROUNDED_OFF", True)


@pytest.mark.parametrize("numbers", NUMBERS)
def test_of_constants(numbers: list[float], keeping: None) -> None:
    assert repr(sums.added_up(numbers)) == repr(neumaier(numbers))


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_of_data(backend: str, keeping: None) -> None:
    def program(x: Tensor) -> Any:
        return sum(x.tolist()), sum(v.item() for v in x), sum([v.item() * 0.1 for v in x])

    followed = compiled(program, backend)
    for numbers in NUMBERS[:1] + NUMBERS[2:3] + [[0.1, 0.7, 1e3, -1e-3]]:
        x = torch.tensor(numbers, dtype=torch.float64)
        expected = neumaier(numbers), neumaier(numbers), neumaier([v * 0.1 for v in numbers])
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # of a graph for some data
            assert repr(followed(x)) == repr(expected)


def test_of_a_list_that_has_grown(keeping: None) -> None:
    def program(x: Tensor, n: int) -> Any:
        log = [0.1]
        while x.sum() > 0:
            log.append(x.sum().item())
            x = x - 0.3
        return sum(log)

    def by_hand(x: Tensor) -> float:
        log = [0.1]
        while x.sum() > 0:
            log.append(x.sum().item())
            x = x - 0.3
        return neumaier(log)

    followed = compiled(program)
    for start in (5.7, 1.0, -1.0):
        x = torch.tensor([start], dtype=torch.float64)
        assert followed(x, 0) == by_hand(x)


def test_of_what_data_let_through(keeping: None) -> None:
    numbers = [1e16, 1.0, -1e16, 0.25]

    def program(x: Tensor) -> Any:
        return sum(n for n, kept in zip(numbers, [True, x[0] > 0, x[1] > 0, True], strict=True) if kept)

    followed = compiled(program)
    for x in torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]):
        kept = [True, bool(x[0] > 0), bool(x[1] > 0), True]
        assert followed(x) == neumaier([n for n, one in zip(numbers, kept, strict=True) if one])


IN = [lambda: (torch.tensor(one, dtype=torch.float64),) for one in ([0.1, 1e16, 1.0, -1e16], [-0.1, 0.2, 0.3, 0.4])]


@program(inputs=IN)
def numbers_of_several_types(x):
    first = x[0].item()
    mixed = [first, 1, True, 0.1, x[1].item()]
    if first > 0:
        x = x + 1
    return sum(mixed), sum(mixed, 0.5), sum([*mixed, x]), sum([1, 2, first]), sum([x, 0.1, 0.2, 0.3])


@program(inputs=IN)
def of_iterators(x):
    kept = {"a": x[0].item(), "b": 0.1, "c": x[2].item()}
    return sum(kept.values()), sum(map(float, x)), sum(iter(x.tolist())), sum([0.1] * 10), x.sum()


@pytest.mark.parametrize("tested", [numbers_of_several_types, of_iterators], ids=lambda tested: tested.__name__)
def test_as_eager(tested: Callable[..., Any]) -> None:
    check_any_graph(tested)
