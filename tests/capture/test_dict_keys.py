"""Dicts whose keys change between the calls of one compiled function: as in eager."""

from __future__ import annotations

import os
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch.capture import dict_keys
from tests.calls_in_turn import calls_between_changes, differing_calls
from tests.harness import compiled, leave_out, torch_before, vec

pytestmark = torch_before("2.13", "dicts are other variables")

AROUND: dict[str, int] = {}
NAME = "AUTOGRAPH_TORCH_TEST"


def truth(x: Tensor, d: dict[str, int]) -> Any:
    return x + 1, bool(d)


def either(x: Tensor, d: dict[str, int]) -> Any:
    return x + 1, d or 3


def negated(x: Tensor, d: dict[str, int]) -> Any:
    return x + 1, not d


def branched(x: Tensor, d: dict[str, int]) -> Any:
    return x + 1, 1 if d else 0


def as_a_list(x: Tensor, d: dict[str, int]) -> Any:
    return x + 1, list(d)


def truth_of_a_global(x: Tensor) -> Any:
    return x + 1, not AROUND, 1 if AROUND else 0


def listed(x: Tensor, d: dict[str, int]) -> Any:
    return x + 1, list(d), max(d, default=0), [*d]


def any_of(x: Tensor, d: dict[str, int]) -> Any:
    return x + 1, any(d)


def shown(x: Tensor, d: dict[str, int]) -> Any:
    return x + 1, f"{d}"


def text(x: Tensor, d: dict[str, int]) -> Any:
    return x + 1, repr(d)


def looked_up(x: Tensor, d: dict[str, int]) -> Any:
    try:
        return x + 1, d["a"]
    except KeyError:
        return x + 2, None


def in_order(x: Tensor, d: dict[str, int]) -> Any:
    return x + 1, list(d), list(d.items()), next(iter(d), None), next(reversed(d), None)


def environment(x: Tensor) -> Any:
    return x + 1, os.environ.get(NAME), NAME in os.environ


def environment_by_a_function(x: Tensor) -> Any:
    return x + 1, os.getenv(NAME), os.getenv(NAME, default="none")


CHANGES: list[Callable[[Any], Any]] = [
    lambda d: d.update(a=1),
    lambda d: d.update(b=2),
    lambda d: d.move_to_end("a") if isinstance(d, OrderedDict) else d.update(a=d.pop("a")),
    lambda d: d.pop("b"),
    lambda d: d.clear(),
    lambda d: d.update(b=2),
]


def of_a_dict(kind: Callable[[], Any], function: Callable[..., Any]) -> Any:
    return calls_between_changes(function, kind, CHANGES)


@pytest.mark.parametrize(
    "function",
    [truth, either, negated, branched, listed, any_of, as_a_list, shown, text, looked_up, in_order],
    ids=lambda one: one.__name__,
)
def test_a_dict(function: Callable[..., Any]) -> None:
    assert not differing_calls(of_a_dict(dict, function))


@pytest.mark.parametrize("function", [truth, any_of, listed, looked_up, in_order], ids=lambda one: one.__name__)
@pytest.mark.parametrize("kind", [OrderedDict, lambda: defaultdict(int)], ids=["ordered", "default"])
def test_other_dicts(kind: Callable[[], Any], function: Callable[..., Any]) -> None:
    if function is looked_up and kind is not OrderedDict:
        pytest.skip("a defaultdict makes the key")
    assert not differing_calls(of_a_dict(kind, function))


def handed_on(x: Tensor, d: dict[str, int]) -> Any:
    def inner(y: Tensor, given: dict[str, int]) -> Tensor:
        return y + 1 if d is not None else y

    return inner(x, d), [d]


@pytest.mark.parametrize("function", [truth, negated, handed_on], ids=lambda one: one.__name__)
def test_a_dict_that_grows_is_not_compiled_anew(function: Callable[..., Any]) -> None:
    d: dict[str, int] = {}
    run = compiled(function)
    with torch._dynamo.config.patch(error_on_recompile=True):
        d["k"] = 0
        run(vec(1), d)
        for k in range(3):
            d[f"k{k}"] = k
            run(vec(1), d)


def test_a_global() -> None:
    def make() -> Any:
        AROUND.clear()
        return truth_of_a_global, [lambda: (), lambda: (AROUND.update(a=1), ())[1], lambda: (AROUND.clear(), ())[1]]

    assert not differing_calls(make)


@pytest.mark.parametrize("function", [environment, environment_by_a_function])
def test_the_environment(monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any]) -> None:
    def make() -> Any:
        monkeypatch.delenv(NAME, raising=False)
        set_to = [lambda value=value: (monkeypatch.setenv(NAME, value), ())[1] for value in "12"]  # type: ignore[misc]
        return function, [lambda: (), *set_to]

    assert not differing_calls(make)


def test_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile asks later calls for the keys."""
    leave_out(monkeypatch, dict_keys.dict_keys)
    for function in (truth, any_of, negated, as_a_list, looked_up):
        assert differing_calls(of_a_dict(dict, function))
    assert differing_calls(of_a_dict(OrderedDict, in_order))
