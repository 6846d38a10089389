"""Objects of classes derived from immutable ones are made as in eager, and stay what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, autograph
from autograph_torch.capture import derived_constructors
from tests.harness import leave_out, torch_before, vec

pytestmark = torch_before("2.13", "objects of such classes are refused")


class Names(frozenset[Any]):
    pass


class Row(tuple[Any, ...]):
    pass


class Named(frozenset[Any]):
    def __new__(cls, members: Any, unit: str = "m") -> Any:
        made = super().__new__(cls, members)
        made.unit = unit  # type: ignore[attr-defined]
        return made


class Length(float):
    def __new__(cls, value: float, unit: str = "m") -> Any:
        made = super().__new__(cls, value * 2)
        made.unit = unit  # type: ignore[attr-defined]
        return made


class Hexadecimal(int):
    def __new__(cls, text: str) -> Any:
        return int.__new__(cls, text, 16)


class Text(str):
    pass


def _of_a_list(kind: Any) -> Any:
    given = [1, 2]
    made = kind(given)
    given.append(3)
    return made


def _of_an_iterator(kind: Any) -> Any:
    given = iter([1, 2, 3])
    next(given)
    return kind(given)


WAYS: dict[str, Callable[[Any], Any]] = {
    "a list": _of_a_list,
    "an iterator": _of_an_iterator,
    "a generator": lambda kind: kind(k for k in [1, 2]),
    "a map": lambda kind: kind(map(abs, [-1, 2])),
    "a tuple": lambda kind: kind((1, 2)),
}


def _made(make: Callable[[], Any], compiled: bool) -> str:
    def run(x: Tensor) -> Any:
        made = make()
        return made, x * 2 if x.sum() > 0 else x

    torch._dynamo.reset()
    made = (autograph(run, backend="eager") if compiled else run)(vec(1, 2))[0]
    return f"{type(made).__name__} {made} {vars(made)}"


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("kind", [Names, Row, Named])
def test_made_of(kind: Any, way: Callable[[Any], Any]) -> None:
    assert _made(lambda: way(kind), compiled=True) == _made(lambda: way(kind), compiled=False)


@pytest.mark.parametrize("make", [lambda: Length(0.25, "k"), lambda: Hexadecimal("ff")], ids=["float", "int"])
def test_its_own_constructor(make: Callable[[], Any]) -> None:
    assert _made(make, compiled=True) == _made(make, compiled=False)


def test_a_text_of_a_list_is_refused() -> None:
    with pytest.raises(CaptureError, match="AG320 a Text of a container"):
        _made(lambda: _of_a_list(Text), compiled=True)


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, derived_constructors.derived_constructors)
    assert "3" in _made(lambda: _of_a_list(Names), compiled=True)
    with pytest.raises(CaptureError, match="__new__"):
        _made(lambda: Length(0.25), compiled=True)
