"""Attributes that come and go between the calls of one compiled function: as in eager."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import convert
from autograph_torch.capture import presence
from tests.calls_in_turn import calls_between_changes, differing_calls
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


CHANGES: list[Callable[[Any], Any]] = [
    lambda o: setattr(o, "last", 1),
    lambda o: setattr(o, "b", 2),
    lambda o: delattr(o, "last"),
    lambda o: setattr(o, "last", 3),
]


def of(kind: Callable[[], Any], function: Callable[..., Any]) -> Any:
    return calls_between_changes(function, kind, CHANGES)


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


def leaf() -> Any:
    base = type("Base", (), {"rate": 1, "step": lambda self: 1, "__len__": lambda self: 1})
    return type("Leaf", (type("Middle", (base,), {}),), {})()


def base_of(o: Any) -> Any:
    return type(o).__mro__[-2]


def test_a_class_hides_an_attribute_of_its_base() -> None:
    changes: list[Callable[[Any], Any]] = [
        lambda o: setattr(base_of(o), "rate", 0),
        lambda o: setattr(type(o), "rate", 1),
        lambda o: setattr(type(o), "rate", 7),
    ]
    assert not differing_calls(calls_between_changes(rate, leaf, changes))


def set_in_a_branch(x: Tensor, o: Any) -> Any:
    if x.sum() > 0:
        o.rate = 5
    elif x.sum() < -9:
        type(o).rate = 6
    return x * 2


def test_what_a_branch_leaves_unset() -> None:
    """A graph that was made for an object, or class, without the attribute takes it away from none that has one."""
    expected, actual = leaf(), leaf()
    compiled = torch.compile(convert(set_in_a_branch), backend="eager", fullgraph=True)
    for value in (-1.0, -10.0, -1.0, 1.0, -1.0, -10.0):
        for function, one in ((set_in_a_branch, expected), (compiled, actual)):
            function(torch.full((1,), value), one)
        assert (vars(actual), vars(type(actual)).get("rate")) == (vars(expected), vars(type(expected)).get("rate"))


def methods(x: Tensor, o: Any) -> Any:
    return x + 1, o.step(), type(o).step(o), len(o)


def test_a_class_gets_another_method() -> None:
    changes: list[Callable[[Any], Any]] = [
        lambda o: setattr(base_of(o), "step", lambda self: 2),
        lambda o: setattr(base_of(o), "__len__", lambda self: 3),
        lambda o: setattr(type(o), "step", lambda self: 4),
        lambda o: setattr(o, "step", lambda: 5),
    ]
    assert not differing_calls(calls_between_changes(methods, leaf, changes))


def names_of_its_class(x: Tensor, o: Any) -> Any:
    return x + 1, "last" in dir(type(o))


def test_the_names_of_a_base() -> None:
    changes: list[Callable[[Any], Any]] = [lambda o: setattr(base_of(o), "last", 0)]
    assert not differing_calls(calls_between_changes(names_of_its_class, leaf, changes))


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


class RaisingAndLooking(Raising, Looking): ...


@pytest.mark.parametrize("kind, function", [(Looking, missed), (Raising, asked), (RaisingAndLooking, asked)])
def test_nobody_looks_but_the_program(kind: Callable[[], Any], function: Callable[..., Any]) -> None:
    assert not differing_calls(calls_between_changes(function, kind, [lambda o: None] * 3))


class Defaults:
    def __getattr__(self, name: str) -> Any:
        return 0.1


class Child:
    def __init__(self) -> None:
        self.parent = Defaults()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.parent, name)


class Wrapper(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return 0.2


def rated(x: Tensor, o: Any) -> Any:
    if x.sum() > 100:
        x = x + 1
    return x * o.rate


@pytest.mark.parametrize("of_class", [False, True], ids=["of the object", "of its class"])
@pytest.mark.parametrize("base", [Defaults, Child, Wrapper])
def test_an_attribute_hides_what_getattr_gives(base: Any, of_class: bool) -> None:
    changes: list[Callable[[Any], Any]] = [lambda o: setattr(type(o) if of_class else o, "rate", 0.5)]
    assert not differing_calls(calls_between_changes(rated, lambda: type("Made", (base,), {})(), changes))


def test_an_attribute_of_a_parent_hides_what_getattr_gives() -> None:
    assert not differing_calls(calls_between_changes(rated, Child, [lambda o: setattr(o.parent, "rate", 0.5)]))


def test_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile asks later calls for the attributes."""
    leave_out(monkeypatch, presence.presence)
    assert differing_calls(of(KINDS["function"], has))
    assert differing_calls(of(KINDS["object"], caught))
    assert differing_calls(of(KINDS["class"], in_dir))
    assert differing_calls(calls_between_changes(rated, Defaults, [lambda o: setattr(o, "rate", 0.5)]))


class Scaled:
    """A cache that a call may drop, and an attribute that `__getattr__` stands in for; both count their runs."""

    def __init__(self) -> None:
        super().__init__()
        self.k, self.asked, self.rate = 1, 0, 5

    @functools.cached_property
    def scale(self) -> int:
        self.asked += 1
        return self.k * 100

    def __getattr__(self, name: str) -> Any:
        if name != "rate":
            return super().__getattr__(name)  # type: ignore[misc]
        self.__dict__["asked"] += 1
        return 7


class ScaledModule(Scaled, nn.Module):
    pass


def dropping(x: Tensor, o: Any, drops: bool) -> Any:
    o.k += 1
    y = x + o.scale + o.rate
    if drops:
        del o.scale
        if "rate" in vars(o):
            del o.rate
    return y, o.asked


def dropping_by_data(x: Tensor, o: Any, drops: bool) -> Any:
    o.k += 1
    y = x + o.scale
    if (x.sum() < 0) if drops else (x.sum() < -9):
        del o.scale
    return y, o.asked


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize("function", [dropping, dropping_by_data])
@pytest.mark.parametrize("kind", [Scaled, ScaledModule])
def test_no_guard_computes_what_has_gone(kind: Any, function: Callable[..., Any]) -> None:
    def given() -> Any:
        one = kind()
        return function, [lambda drops=drops: (one, drops) for drops in (False, False, True, False, False, True, False)]

    assert not differing_calls(given)


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
def test_data_tell_what_goes() -> None:
    expected, actual = Scaled(), Scaled()
    compiled = torch.compile(convert(dropping_by_data), backend="eager", fullgraph=True)
    for value in (-1.0, 1.0, -1.0, 1.0, 1.0):
        x = torch.full((1,), value)
        assert repr(compiled(x, actual, True)) == repr(dropping_by_data(x, expected, True))
        assert vars(actual) == vars(expected)
