"""An attribute that a branch writes, and code that the text does not show uses as well, stays an attribute."""

from __future__ import annotations

import functools
import inspect
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.symbolic_convert import InstructionTranslatorBase
from torch._dynamo.variables import BuiltinVariable

from autograph_torch import convert
from autograph_torch.capture.dynamo_names import GETATTR, SETATTR
from tests.harness import compiled, vec


def total(one: Any) -> Any:
    return one.n + 1


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


class Descriptor:
    def __get__(self, one: Any, kind: type) -> Any:
        return one.n + 1


class Part:
    """Leads back to the object that it is a part of."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    @property
    def total(self) -> Any:
        return self.owner.n + 1

    def mean(self) -> Any:
        return self.owner.n + 1

    def __getitem__(self, index: int) -> Any:
        return self.owner.n + index

    def __setitem__(self, index: int, value: Any) -> None:
        self.owner.n += value

    def __radd__(self, other: Any) -> Any:
        return other + self.owner.n

    def __enter__(self) -> Any:
        return self.owner.n

    def __exit__(self, *error: object) -> None:
        self.owner.n += 1

    def __len__(self) -> int:
        return int(self.owner.n)


class Counter:
    by_a_function = property(lambda self: total(self))
    by_a_descriptor = Descriptor()

    def __init__(self) -> None:
        self.n = 1
        self.ask = lambda: self.n + 1
        self.part = Part(self)

    @property
    @traced
    def by_a_wrapper(self) -> Any:
        return self.n + 1

    @property
    def by_its_name(self) -> Any:
        return getattr(self, "n") + 1  # noqa: B009

    @property
    def by_its_dict(self) -> Any:
        return vars(self)["n"] + 1

    @property
    def by_an_attribute(self) -> Any:
        return self.ask()

    def __add__(self, other: Any) -> Any:
        self.n += 1
        return other


def reading(text: str) -> type[Counter]:
    """A class whose `step` reads by this expression where it writes to `n`."""
    source = f"""
class Reading(Counter):
    def step(self, x):
        y = x
        if x.sum() > 0:
            self.n += 1
            y = {text}
        return y, self.n
"""
    filename = f"<generated reading {abs(hash(text))}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    made: dict[str, Any] = {"Counter": Counter, "__name__": __name__}
    exec(compile(source, filename, "exec"), made)
    found: type[Counter] = made["Reading"]
    return found


@pytest.mark.parametrize(
    "text",
    [
        *(f"x + self.by_{name}" for name in "a_function a_descriptor a_wrapper its_name its_dict an_attribute".split()),
        *("x + self.part.total", "x + self.part.mean()", "x + self.part[1]", "x + self.part", "x + len(self.part)"),
    ],
)
def test_what_reads_it(text: str) -> None:
    kind = reading(text)
    for x in vec(1, 2), vec(-1, -2):
        torch.testing.assert_close(compiled(kind().step)(x), kind().step(x))


class Writing(Counter):
    def step(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.n += 1
            self.part[0] = 5
            with self.part:
                x = x * self.n
        return x, self.n


class InALoop(Counter):
    def step(self, x: Tensor) -> Any:
        while x.sum() > 1:
            self.n += 1
            x = x / (self + self.part.total)
        return x, self.n


class Deleting(Counter):
    def step(self, x: Tensor) -> Any:
        if x.sum() > 0:
            del self.n
        return hasattr(self, "n")


@dataclass
class Plain:
    n: Any = 1

    def step(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.n += 1
        return x, self.n


@pytest.mark.parametrize("kind", [Writing, InALoop, Deleting, Plain])
def test_what_writes_it(kind: type[Any]) -> None:
    for x in vec(1, 2), vec(-1, -2):
        expected, actual = kind(), kind()
        result = expected.step(x)
        found = compiled(actual.step)(x)
        torch.testing.assert_close(found, result) if isinstance(result, tuple) else None
        assert isinstance(result, tuple) or found == result
        assert getattr(actual, "n", None) == getattr(expected, "n", None)


def test_a_class_of_a_function_by_its_name() -> None:
    class Local:
        k = 2

        def step(self, x: Tensor) -> Tensor:
            if x.sum() > 2:
                x = x + 1
            return x * Local.k

    for x in vec(1, 2), vec(-1, -2):
        torch.testing.assert_close(convert(Local().step)(x), Local().step(x))


def test_torch_still_has_the_places() -> None:
    assert callable(GETATTR.call_function)
    assert callable(SETATTR.call_function)
    assert callable(BuiltinVariable.call_function)
    assert "parent" in InstructionTranslatorBase.__annotations__
    assert "f_code" in inspect.signature(InstructionTranslatorBase.__init__).parameters
