"""Attributes that come and go between the calls of one compiled function: as in eager."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import pytest
from torch import Tensor, nn

from autograph_torch.capture import presence
from tests.calls_in_turn import differing_calls
from tests.harness import leave_out, torch_before

pytestmark = torch_before("2.13", "the dict of an object cannot be followed")


class State: ...


def made_function() -> Any:
    def helper(x: Tensor) -> Tensor:
        return x

    return helper


KINDS: dict[str, Callable[[], Any]] = {
    "function": made_function,
    "partial": lambda: functools.partial(made_function()),
    "module": lambda: types.ModuleType("settings"),
    "object": State,
    "class": lambda: type("Made", (), {}),
    "nn.Module": lambda: nn.Linear(1, 1),
    "namespace": types.SimpleNamespace,
}


def has(x: Tensor, o: Any) -> Any:
    return x + 1, hasattr(o, "last"), getattr(o, "last", 7)


def caught(x: Tensor, o: Any) -> Any:
    try:
        return x + 1, o.last
    except AttributeError:
        return x + 2, None


def in_its_dict(x: Tensor, o: Any) -> Any:
    return x + 1, "last" in vars(o)


def from_its_dict(x: Tensor, o: Any) -> Any:
    return x + 1, vars(o).get("last", 0)


def names_in_its_dict(x: Tensor, o: Any) -> Any:
    return x + 1, [name for name in vars(o) if name in ("last", "b")]


def number_in_its_dict(x: Tensor, o: Any) -> Any:
    return x + 1, len(o.__dict__)


def as_a_whole(x: Tensor, o: Any) -> Any:
    return x + 1, bool(vars(o)), "last" in o.__dict__.keys()


def in_dir(x: Tensor, o: Any) -> Any:
    return x + 1, "last" in dir(o)


def of(kind: Callable[[], Any], function: Callable[..., Any]) -> Any:
    """Calls between which an attribute comes, another one comes, the first goes, and comes again."""

    def make() -> Any:
        o = kind()

        def changed(change: Callable[[], Any]) -> Callable[[], tuple[Any, ...]]:
            return lambda: (change(), (o,))[1]

        changes: list[Callable[[], Any]] = [
            lambda: None,
            lambda: setattr(o, "last", 1),
            lambda: setattr(o, "b", 2),
            lambda: delattr(o, "last"),
            lambda: setattr(o, "last", 3),
        ]
        return function, [changed(change) for change in changes]

    return make


@pytest.mark.parametrize("function", [has, caught], ids=lambda one: one.__name__)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_an_attribute(kind: Callable[[], Any], function: Callable[..., Any]) -> None:
    assert not differing_calls(of(kind, function))


@pytest.mark.parametrize(
    "function",
    [in_its_dict, from_its_dict, names_in_its_dict, number_in_its_dict, as_a_whole],
    ids=lambda one: one.__name__,
)
@pytest.mark.parametrize("kind", [KINDS[name] for name in ("function", "object", "nn.Module", "namespace")])
def test_the_dict_of_an_object(kind: Callable[[], Any], function: Callable[..., Any]) -> None:
    assert not differing_calls(of(kind, function))


@pytest.mark.parametrize("kind", [KINDS[name] for name in ("function", "partial", "module", "class")])
def test_the_names(kind: Callable[[], Any]) -> None:
    assert not differing_calls(of(kind, in_dir))


def rate(x: Tensor, o: Any) -> Any:
    return x * o.rate, type(o).rate


def test_a_class_hides_an_attribute_of_its_base() -> None:
    def make() -> Any:
        base = type("Base", (), {"rate": 1})
        middle = type("Middle", (base,), {})
        leaf = type("Leaf", (middle,), {})
        one = leaf()
        set_to = [lambda kind=kind, k=k: (setattr(kind, "rate", k), (one,))[1] for k, kind in enumerate((base, leaf))]  # type: ignore[misc]
        return rate, [lambda: (one,), *set_to, lambda: (setattr(leaf, "rate", 7), (one,))[1]]

    assert not differing_calls(make)


class Looking:
    looks = 0

    def __getattr__(self, name: str) -> Any:
        self.__dict__["looks"] = self.looks + 1
        raise AttributeError(name)


class Raising:
    looks = 0

    @property
    def level(self) -> int:
        self.looks += 1
        raise AttributeError("level")


def missed(x: Tensor, o: Any) -> Any:
    try:
        return x + 1, o.last
    except AttributeError:
        return x + 2, o.looks


def asked(x: Tensor, o: Any) -> Any:
    try:
        return x + 1, o.level
    except AttributeError:
        return x + 2, o.looks


@pytest.mark.parametrize("kind, function", [(Looking, missed), (Raising, asked)])
def test_nobody_looks_but_the_program(kind: Callable[[], Any], function: Callable[..., Any]) -> None:
    def make() -> Any:
        o = kind()
        return function, [lambda: (o,)] * 4

    assert not differing_calls(make)


def test_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile asks later calls for the attributes."""
    leave_out(monkeypatch, presence.presence)
    assert differing_calls(of(KINDS["function"], has))
    assert differing_calls(of(KINDS["object"], caught))
    assert differing_calls(of(KINDS["class"], in_dir))
