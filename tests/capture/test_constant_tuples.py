"""A tuple or frozenset of constants that a call leaves in several places is one object."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch.capture import constant_tuples
from tests.harness import compiled, leave_out


def stored(x: Tensor, w: Any) -> Any:
    pair = (1, "left")
    w.last = pair
    w.found.append([pair])
    return pair, w.last, x + 1


def a_key(x: Tensor, w: Any) -> Any:
    key = tuple([1, (2.0, None)])  # noqa: C409
    w.table[key] = key
    return key, next(iter(w.table)), w.table[key]


def a_set(x: Tensor, w: Any) -> Any:
    edge = frozenset((1, 2))
    w.last = edge
    w.table[edge] = edge
    return edge, w.last, x


def an_old_key(x: Tensor, w: Any) -> Any:
    edge, pair = frozenset((1, 2)), tuple([3, (4, None)])  # noqa: C409
    w.table[edge] = w.table[pair] = edge
    w.found = [[key] for key in w.table]
    w.last = next(key for key in w.table if key == pair)
    return *w.table, x * 2 if x.sum() > 0 else x


def grown(x: Tensor, w: Any) -> Any:
    path: tuple[int, ...] = ()
    for k in range(3):
        path += (k,)
        w.found.append([path])
    w.last = path
    if x.sum() > 0:
        x = x * 2
    return path, w.last, w.found[-1][0]


def apart(x: Tensor, w: Any) -> Any:
    w.last = (1, 2)
    return (w.last[0], 2), (*w.last,), x


def pairs(function: Callable[..., Any]) -> list[bool]:
    """What is one object behind a call, and behind the next one."""
    w, found = SimpleNamespace(last=None, found=[], table={}), []
    for _ in range(2):
        values = [one for one in function(torch.ones(2), w) if isinstance(one, (tuple, frozenset))]
        values += [w.last, *[row[0] for row in w.found], *w.table, *w.table.values()]
        found += [one is other for one in values for other in values]
        w.found.clear()
    return found


@pytest.mark.parametrize("function", [stored, a_key, a_set, an_old_key, grown, apart])
def test_what_is_one_object_stays_one(function: Callable[..., Any]) -> None:
    assert pairs(compiled(function)) == pairs(function)


@pytest.mark.parametrize("function", [stored, a_key, a_set, an_old_key, grown])
def test_not_without(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, constant_tuples.constant_tuples)
    assert pairs(compiled(function)) != pairs(function)
