"""Attributes for which a class has code of its own are read and set where the text does, as often as in eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.harness import compiled


class Descriptor:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self
        owner.gets += 1
        return getattr(owner, self.name)

    def __set__(self, owner: Any, value: Any) -> None:
        owner.sets += 1
        setattr(owner, self.name, value)


class Counted:
    """How often its attributes are read and set."""

    def __init__(self) -> None:
        self.gets = self.sets = 0
        self._scale, self._seen, self._number = torch.tensor(32.0), [1], 0


class WithDescriptors(Counted):
    scale, seen, number = Descriptor(), Descriptor(), Descriptor()


class WithProperties(Counted):
    @property
    def scale(self) -> Tensor:
        self.gets += 1
        return self._scale

    @scale.setter
    def scale(self, value: Tensor) -> None:
        self.sets += 1
        self._scale = value

    @property
    def seen(self) -> list[int]:
        self.gets += 1
        return self._seen

    @property
    def number(self) -> int:
        self.gets += 1
        return self._number

    @number.setter
    def number(self, value: int) -> None:
        self.sets += 1
        self._number = value


class WithGetattr(Counted):
    def __getattr__(self, name: str) -> Any:
        if name not in ("scale", "seen", "number"):
            raise AttributeError(name)
        self.gets += 1
        return self.__dict__[f"_{name}"]


class WithSetattr(Counted):
    def __init__(self) -> None:
        super().__init__()
        self.scale, self.seen, self.number = torch.tensor(32.0), [1], 0

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("scale", "number"):
            self.sets += 1
        object.__setattr__(self, name, value)


def in_a_loop(self: Any, x: Tensor) -> Tensor:
    while (x * self.scale).abs().max() > 1000.0:
        self.scale *= 0.5
    return x * self.scale


def by_a_method(self: Any, x: Tensor) -> Tensor:
    while (x * self.scale).abs().max() > 1000.0:
        self.scale.mul_(0.5)
    return x * self.scale


def replaced(self: Any, x: Tensor) -> Tensor:
    if x.sum() > 10:
        self.scale = self.scale * 2
    return x


def longer(self: Any, x: Tensor) -> Tensor:
    if x.sum() > 10:
        self.seen.append(3)
    return x


def counted(self: Any, x: Tensor) -> Tensor:
    if x.sum() > 10:
        self.number += 1
    return x


def assigned(self: Any, x: Tensor) -> Tensor:
    if x.sum() > 10:
        self.number = 0
    return x


def an_element(self: Any, x: Tensor) -> Tensor:
    if x.sum() > 10:
        x = x + self.scale
        self.scale[...] = 0
    return x


@pytest.mark.parametrize("kind", [WithDescriptors, WithProperties, WithGetattr, WithSetattr])
@pytest.mark.parametrize("method", [in_a_loop, by_a_method, replaced, longer, counted, assigned, an_element])
def test_as_often_as_in_eager(method: Callable[[Any, Tensor], Tensor], kind: Callable[[], Any]) -> None:
    def step(state: Any, x: Tensor) -> Tensor:
        return method(state, x)

    expected, found = kind(), kind()
    fast = compiled(step)
    for values in ([0.1, 0.2], [1.0, 100.0], [1.0, 2.0]):
        torch.testing.assert_close(fast(found, torch.tensor(values)), step(expected, torch.tensor(values)))
        torch.testing.assert_close(vars(found), vars(expected))
