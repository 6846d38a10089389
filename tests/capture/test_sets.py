"""Sets of constants are gone through in Python's order."""

from __future__ import annotations

from typing import Any

import torch

from autograph_torch import convert


def orders(x: torch.Tensor) -> Any:
    members = {16, 3, 9}
    if x.sum() > 0:
        x = x + 1
    made = set([9, 3, 16, 8, 1])  # noqa: C405
    added = set()
    for k in (9, 3, 16, 8):
        added.add(k)
    parts = list(members), list(made), (*added,), [k for k in added], dict.fromkeys(added), sorted(added)  # noqa: C416
    return x, *parts, list(added.copy()), list(zip(added, made, strict=False)), added.pop()


def frozen(x: torch.Tensor) -> Any:
    if x.sum() > 0:
        x = x + 1
    made = frozenset([9, 3, 16, 8])
    return x, list(made), (*made,), [k for k in made], sorted(made)  # noqa: C416


def test_order_of_frozen_sets() -> None:
    compiled = torch.compile(convert(frozen), backend="eager", fullgraph=True)
    assert [*map(str, compiled(torch.ones(1)))] == [*map(str, frozen(torch.ones(1)))]


def test_order() -> None:
    compiled = torch.compile(convert(orders), backend="eager", fullgraph=True)
    assert [*map(str, compiled(torch.ones(1)))] == [*map(str, orders(torch.ones(1)))]


def test_torch_needs_it() -> None:
    def order(x: torch.Tensor) -> Any:
        added = set()
        for k in (9, 3, 16, 8):
            added.add(k)
        return x, list(added)

    compiled = torch.compile(order, backend="eager", fullgraph=True)
    assert compiled(torch.ones(1))[1] != order(torch.ones(1))[1], "remove autograph_torch/capture/sets.py"
