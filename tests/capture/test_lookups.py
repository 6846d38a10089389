"""`getattr` with a default and `hasattr` run the code that a class has for an attribute once, as Python does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import live
from autograph_torch.capture import lookups
from tests.calls_in_turn import calls_between_changes, differing_calls
from tests.harness import compiled, leave_out


class Lazy:
    """Counts what it is asked for, and stores what it computes."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        if name != "scale":
            raise AttributeError(name)
        self.scale = 2.0
        return 4.0

    @property
    def turn(self) -> int:
        self.count += 1
        return self.count

    @property
    def broken(self) -> int:
        self.count += 10
        raise AttributeError("broken")


class Module(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    @property
    def turn(self) -> int:
        self.count += 1
        return self.count


class Plain:
    count = 0


class Numbered:
    def __get__(self, owner: Any, kind: type) -> int:
        owner.count += 1
        return int(owner.count)


class Described(Plain):
    turn = Numbered()


def with_default(x: Tensor, state: Any) -> Any:
    return getattr(state, "turn", None), state.count, x + 1


def whether_there(x: Tensor, state: Any) -> Any:
    return hasattr(state, "turn"), hasattr(state, "nothing"), state.count


def in_a_branch(x: Tensor, state: Any) -> Any:
    if x.sum() * (-1) ** state.count > 0:
        x = x * getattr(state, "turn", 5)
    else:
        x = x + 10 * hasattr(state, "turn")
    return x, state.count


def of_getattr(x: Tensor, state: Any) -> Any:
    found = getattr(state, "scale", 1.0), getattr(state, "nothing", x), hasattr(state, "other")
    return found, list(state.asked), list(vars(state))


def that_raises(x: Tensor, state: Any) -> Any:
    return getattr(state, "broken", x * 2), hasattr(state, "broken"), state.count, list(state.asked)


def nothing(state: Any) -> None:
    pass


def set_one(state: Any) -> None:
    state.nothing = 3.0


CASES = [
    *[
        (function, kind)
        for function in (with_default, whether_there, in_a_branch)
        for kind in (Lazy, Module, Described)
    ],
    (with_default, Plain),
    (whether_there, Plain),
    (of_getattr, Lazy),
    (that_raises, Lazy),
]


@pytest.mark.parametrize("function, kind", CASES, ids=lambda one: one.__name__)
def test_as_in_eager(function: Callable[..., Any], kind: Callable[[], Any]) -> None:
    assert differing_calls(calls_between_changes(function, kind, [nothing, set_one, nothing])) == []


@pytest.mark.parametrize("function, kind", [(with_default, Module), (whether_there, Lazy), (of_getattr, Lazy)])
def test_not_without(function: Callable[..., Any], kind: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, lookups.lookups)
    calls = calls_between_changes(function, kind, [nothing])
    try:
        assert differing_calls(calls) != []
    except Exception as error:  # what it was asked has changed a list that the graph has a guard on
        assert "Guard failed" in str(error)


STATE = Lazy()


def of_a_global(x: Tensor) -> Tensor:
    return x * STATE.count if x.sum() > 0 else x


def test_a_global_is_not_asked_for_its_name() -> None:
    STATE.asked.clear()
    compiled(of_a_global)(torch.ones(2))
    assert STATE.asked == []


class Asked(type):
    def __getattr__(cls, name: str) -> Any:
        raise AssertionError(f"asked for {name}")


class Named(metaclass=Asked):
    pass


def test_a_class_has_a_name_itself() -> None:
    assert live._origin(Named) == f"{__name__}.Named"
    assert live._origin(STATE) is None
