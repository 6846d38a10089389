"""Dicts without keys whose attributes or default factories change between the calls of one compiled function."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import pytest
from torch import Tensor

from autograph_torch.capture import empty_dicts
from tests.calls_in_turn import calls_between_changes, differing_calls
from tests.harness import leave_out, torch_before


class Registry(dict[str, Any]):
    def __init__(self, scale: int) -> None:
        super().__init__()
        self.scale = scale


class Ordered(OrderedDict[str, Any]):
    scale = 1


def ordered(scale: int) -> Ordered:
    made = Ordered()
    made.scale = scale
    return made


def iterated(x: Tensor, d: Any) -> Tensor:
    for value in d.values():
        x = x + value
    return x * d.scale


def listed(x: Tensor, d: Any) -> Any:
    return x * d.scale, list(d), [*d.items()]


def written(x: Tensor, d: Any) -> Any:
    x = x * d.scale
    d["q"] = 1
    return x, list(d.items())


def branched(x: Tensor, d: Any) -> Tensor:
    x = x * d.scale if x.sum() > 0 else x - d.scale
    return x + len(list(d))


@pytest.mark.parametrize("kind", [Registry, ordered], ids=["dict", "ordered"])
@pytest.mark.parametrize("function", [iterated, listed, written, branched], ids=lambda one: one.__name__)
def test_attributes(function: Callable[..., Any], kind: Callable[[int], Any]) -> None:
    assert not differing_calls(lambda: (function, [lambda scale=scale: (kind(scale),) for scale in (1, 2, 3)]))


def looked_up(x: Tensor, d: Any) -> Any:
    return x * 2, d["z"]


def appended(x: Tensor, d: Any) -> Any:
    d["z"].append(x)
    return d


def or_nothing(x: Tensor, d: Any) -> Any:
    try:
        return x * 2, d["z"]
    except KeyError:
        return x, None


@pytest.mark.parametrize(
    "function, factories",
    [
        (looked_up, (int, float, lambda: 5, lambda: 6)),
        (appended, (list, deque)),
        (or_nothing, (int, None)),
        (or_nothing, (None, int)),
    ],
)
def test_default_factories(function: Callable[..., Any], factories: tuple[Any, ...]) -> None:
    assert not differing_calls(lambda: (function, [lambda one=one: (defaultdict(one),) for one in factories]))


class Counter:
    def __init__(self) -> None:
        self.counts: Any = defaultdict(int)


def counted(x: Tensor, counter: Counter) -> Any:
    counter.counts["k"] += 1
    return x * counter.counts["k"], dict(counter.counts)


def test_a_dict_in_an_object() -> None:
    def change(counter: Counter) -> None:
        counter.counts = defaultdict(float)

    assert not differing_calls(calls_between_changes(counted, Counter, [change]))


def test_a_key_that_comes() -> None:
    changes: list[Callable[[Any], Any]] = [lambda d: d.update(a=1), lambda d: d.update(b=2), lambda d: d.clear()]
    for function in (iterated, listed, written):
        assert not differing_calls(calls_between_changes(function, lambda: Registry(1), changes))


@torch_before("2.12", "what needs this is right there")
def test_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile asks later calls."""
    leave_out(monkeypatch, empty_dicts.empty_dicts)
    for function in (listed, written):
        assert differing_calls(lambda function=function: (function, [lambda: (Registry(1),), lambda: (Registry(2),)]))
    assert differing_calls(lambda: (looked_up, [lambda: (defaultdict(int),), lambda: (defaultdict(float),)]))
