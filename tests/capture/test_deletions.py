"""Attributes that are deleted: by a class's own `__delattr__`, from slots, and where the class has one, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import autograph
from tests.harness import torch_before, vec


class Recording:
    """Remembers what attributes have held."""

    def __init__(self) -> None:
        super().__setattr__("gone", {})
        super().__setattr__("told", [])
        super().__setattr__("last", None)

    def __setattr__(self, name: str, value: Any) -> None:
        self.gone.setdefault(name, getattr(self, name, None))
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self.gone[name] = self.__dict__[name]
        self.told.append(name)
        super().__delattr__(name)


class Layer(torch.nn.Module):
    """Counts what is set."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name != "counts" and "counts" in self.__dict__:
            self.counts[name] = self.counts.get(name, 0) + 1


class Slots:
    __slots__ = ("tag", "value")

    def __init__(self) -> None:
        self.value = vec(1.0, 1.0)


class Shared:
    budget = 3

    def spend(self) -> int:
        self.budget -= 1
        left = self.budget
        if "budget" in self.__dict__:
            del self.budget
        return left


def deleted_by_its_own_method(x: torch.Tensor, w: Recording) -> torch.Tensor:
    w.last = x
    if x.sum() > 2:
        x = x * 2
    del w.last
    return x


def deleted_in_a_branch(x: torch.Tensor, w: Recording) -> torch.Tensor:
    w.last = x
    if x.sum() > 2:
        del w.last
        w.sign = -1
    return x * 2


def set_in_a_branch(x: torch.Tensor, w: Any) -> torch.Tensor:
    if x.sum() > 2:
        w.sign = -1
    return x * 2


def slot_without_a_value(x: torch.Tensor, w: Slots) -> Any:
    if x.sum() > 2:
        x = x * 2
    try:
        del w.tag
    except AttributeError as error:
        return x, str(error)
    return x, "deleted"


def slot_in_a_branch(x: torch.Tensor, w: Slots) -> torch.Tensor:
    if x.sum() > 2:
        try:
            del w.tag
        except AttributeError:
            print("no tag")
        x = x * 2
    return x


def hidden_attribute_of_the_class(x: torch.Tensor, w: Shared) -> Any:
    y = x * 2
    if y.sum() > 2:
        y = y * w.spend()
    return y, "budget" in vars(w), w.budget


CASES = [
    pytest.param(deleted_by_its_own_method, Recording, marks=torch_before("2.12", "the method runs twice")),
    (deleted_in_a_branch, Recording),
    (set_in_a_branch, Recording),
    (set_in_a_branch, Layer),
    (slot_without_a_value, Slots),
    (slot_in_a_branch, Slots),
    (hidden_attribute_of_the_class, Shared),
]


@pytest.mark.parametrize(("function", "kind"), CASES, ids=lambda one: one.__name__)
def test_as_eager_deletes(
    function: Callable[..., Any], kind: Callable[[], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend="eager")
    plain, own = kind(), kind()
    for x in (vec(3.0, 1.0), vec(0.0, 1.0), vec(2.0, 2.0)):
        expected = f"{function(x, plain)} {_shown(plain)} {capsys.readouterr().out}"
        assert f"{fast(x, own)} {_shown(own)} {capsys.readouterr().out}" == expected


def _shown(item: Any) -> str:
    if isinstance(item, Layer):
        return f"{item.counts} {getattr(item, 'sign', None)}"
    slots = {name: getattr(item, name) for name in getattr(item, "__slots__", ()) if hasattr(item, name)}
    return str({**getattr(item, "__dict__", {}), **slots})
