"""Cached functions that a function makes: called as often as in eager."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, convert
from autograph_torch.capture import caches, compiling
from tests.harness import vec

Log = list[Any]


def knapsack(x: Tensor, room: int) -> Any:
    log: Log = []
    weights = [2, 3, 4]

    @functools.cache
    def best(k: int, left: int) -> tuple[float, tuple[int, ...]]:
        log.append((k, left))
        if k == len(weights):
            return 0.0, ()
        skipped = best(k + 1, left)
        if weights[k] > left:
            return skipped
        value, taken = best(k + 1, left - weights[k])
        return max(skipped, (value + x[k].item(), (k, *taken)), key=lambda pair: pair[0])

    return best(0, room), log, best.cache_info()


def in_all_its_forms(x: Tensor, n: int) -> Any:
    log: Log = []

    @functools.lru_cache
    def plain(k: float) -> float:
        log.append(k)
        return k * n

    @functools.lru_cache(2, typed=True)
    def small(k: float) -> float:
        log.append(("small", k))
        return k * k

    @functools.cache
    def of_tensors(t: Tensor, k: int = 1) -> Tensor:
        log.append("tensor")
        return t * k

    same = of_tensors(x) is of_tensors(x), of_tensors(x, k=2).sum() > of_tensors(x, k=2).sum()
    found = [plain(1), plain(1.0), plain(True), plain(n), *(small(k) for k in (1, 2, 1, 3, 2, 1.0))]
    small.cache_clear()
    return same[0], bool(same[1]), found, log, plain.cache_info(), small.cache_info()


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
@pytest.mark.parametrize("function", [knapsack, in_all_its_forms])
def test_a_function_is_called_once_for_what_it_is_called_with(function: Any) -> None:
    found = torch.compile(convert(function), backend="eager", fullgraph=True)
    for x, n in ((vec(3, 4, 5), 5), (vec(1, 4, 1), 6), (vec(9, 1, 1), 4)):
        assert found(x, n) == function(x, n)


def test_what_is_refused() -> None:
    def by_data(x: Tensor) -> int:
        @functools.cache
        def double(k: int) -> int:
            return k * 2

        return double(int(x[0]))

    def in_a_branch(x: Tensor) -> Tensor:
        @functools.cache
        def double(k: int) -> Tensor:
            return x * k

        return double(1) if x.sum() > 0 else x

    def given_back(x: Tensor) -> Any:
        @functools.cache
        def double(k: int) -> int:
            return k * 2

        return double

    for function, said in ((by_data, "data tell"), (in_a_branch, "in a branch"), (given_back, "leaves the function")):
        with pytest.raises(CaptureError, match=f"AG32[01] .*{said}"):
            torch.compile(convert(function), backend="eager", fullgraph=True)(vec(1, 2))


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    others = tuple(repair for repair in compiling._REPAIRS if repair is not caches.caches)
    monkeypatch.setattr(compiling, "_REPAIRS", others)
    with pytest.raises(CaptureError):
        torch.compile(convert(in_all_its_forms), backend="eager", fullgraph=True)(vec(1, 2), 3)
