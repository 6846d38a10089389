"""Floats that many steps have computed: bit for bit those of eager, and no long expressions."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo.variables import SymNodeVariable

from autograph_torch import convert
from autograph_torch.capture import long_numbers

CALLS = (9.0, 1.0, 0.3, float("inf"), float("nan"))


def root(goal: torch.Tensor) -> tuple[float, torch.Tensor]:
    wanted = goal.item()
    x = wanted
    for _ in range(6):
        x = x - (x * x - wanted) / (2 * x) * 0.9
    return x, goal + x


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_the_numbers_are_those_of_eager(backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(root), backend=backend, fullgraph=True)
    for value in CALLS:
        found, expected = compiled(torch.tensor(value)), root(torch.tensor(value))
        assert repr(found) == repr(expected)


def test_no_expression_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    init = SymNodeVariable.__init__

    def count(self: Any, proxy: Any, sym_num: Any, **options: Any) -> None:
        lengths.append(sym_num.node.expr.count_ops())
        init(self, proxy, sym_num, **options)

    monkeypatch.setattr(SymNodeVariable, "__init__", count)
    for most, is_short in ((long_numbers._MOST, True), (10_000, False)):
        lengths.clear()
        torch._dynamo.reset()
        monkeypatch.setattr(long_numbers, "_MOST", most)
        torch.compile(convert(root), backend="eager", fullgraph=True)(torch.tensor(9.0))
        assert (max(lengths) <= 3 * 50) == is_short
