"""Sums of numbers that depend on data, of which a guard has settled some since."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental import sym_node

from autograph_torch import convert
from tests.harness import check_any_graph, compiled, program

Sums = Callable[[torch.Tensor], Any]


def of_a_checked_number(x: torch.Tensor) -> tuple[int, int, int]:
    n, m, k = int(x[0]), int(x[1]), int(x[2])
    total = n + m
    torch._check(n == 0)
    return total + k, k + total, total + (m + k)


def of_a_key(x: torch.Tensor) -> tuple[int, int, dict[int, str]]:
    n, m, k = x.tolist()
    total = n + m
    names = {n: "first"}
    return total + k, k + total, names


def of_two_keys(x: torch.Tensor) -> tuple[int, int, dict[int, int]]:
    n, m, k = x.tolist()
    total, rest = n + m, m + k
    counts = {n: 1, m: 2}
    return total + rest, rest + total + k, counts


GIVEN = ([0, 5, 7], [0, 2, 3])


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("subject", [of_a_checked_number, of_a_key, of_two_keys])
def test_they_are_those_of_eager(subject: Sums, backend: str) -> None:
    for numbers in GIVEN:
        x = torch.tensor(numbers)
        assert compiled(subject, backend)(x) == subject(x)


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(of_a_checked_number)(torch.tensor(GIVEN[0]))  # which repairs torch
    own: Any = sym_node._optimized_add
    monkeypatch.setattr(sym_node, "_optimized_add", own.__wrapped__)
    torch._dynamo.reset()
    x = torch.tensor(GIVEN[0])
    assert torch.compile(convert(of_a_key), fullgraph=True, backend="eager")(x) != of_a_key(x)


@program(inputs=[lambda: (torch.tensor([1.0, 0.0, 1.0, 0.0]), torch.tensor([1.0, 0.0, 0.0, 0.0]), 0.5)])
def confusion(scores: torch.Tensor, truth: torch.Tensor, cut: float) -> tuple[Any, ...]:
    hits = misses = alarms = 0
    for p, t in zip(scores, truth, strict=True):
        hit, pos = bool(p >= cut), bool(t)
        hits += hit and pos
        alarms += hit and not pos
        misses += (not hit) * pos
    precision = hits / (hits + alarms) if hits + alarms else 0
    recall = hits / (hits + misses) if truth.any() else 1
    both = (hits + alarms) * (hits + misses)
    return hits, alarms, misses, precision, recall, both


def test_counts_of_flags() -> None:
    check_any_graph(confusion)
