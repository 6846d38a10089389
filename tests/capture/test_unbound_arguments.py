"""Calls with arguments that do not fit: Python's TypeError, with its text, for handlers and for the caller."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError
from autograph_torch.capture.unbound_arguments import unbound_arguments
from tests.harness import agreement, compiled, leave_out, program, vec

Pair = namedtuple("Pair", "first second")


@dataclass
class Point:
    x: Any
    y: Any = 0


class Scale:
    def __init__(self, by: float, *, offset: float) -> None:
        self.by = by

    def of(self, x: Tensor) -> Tensor:
        return x * self.by

    @classmethod
    def twice(cls, offset: float = 0) -> Scale:
        return cls(2, offset=offset)


def one(a: Any) -> Any:
    return a


def some(a: Any, /, b: Any = 1, *rest: Any, c: Any, d: Any = 2, **named: Any) -> Any:
    return a


def rows(a: Any) -> Any:
    yield a


WRONG: Any = [
    lambda: one(),  # type: ignore[call-arg]
    lambda: one(1, 2),  # type: ignore[call-arg]
    lambda: one(b=1),  # type: ignore[call-arg]
    lambda: one(1, a=2),  # type: ignore[misc]
    lambda: one(*[]),
    lambda: some(c=1),  # type: ignore[call-arg]
    lambda: some(1, 2, 3, 4),  # type: ignore[call-arg]
    lambda: some(b=1, c=1, a=2),  # type: ignore[call-arg]
    lambda: list(rows()),  # type: ignore[call-arg]
    lambda: Pair(1),  # type: ignore[call-arg]
    lambda: Point(),  # type: ignore[call-arg]
    lambda: Point(1, z=2),  # type: ignore[call-arg]
    lambda: Scale(1),  # type: ignore[call-arg]
    lambda: Scale.twice(1, 2),  # type: ignore[call-arg]
    lambda: Scale.twice().of(),  # type: ignore[call-arg]
    lambda: (lambda a, b: a)(1),  # type: ignore[call-arg, misc]
]
INPUTS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]


@program(inputs=INPUTS)
def handled(x: Tensor) -> Any:
    texts = []
    for call in WRONG:
        try:
            call()
        except TypeError as error:
            texts.append(str(error))
    return (x if x.sum() > 0 else -x), texts, len(texts) == len(WRONG)


@program(inputs=INPUTS)
def in_a_branch(x: Tensor) -> Any:
    y = x
    if x.sum() > 0:
        try:
            y = one(x, 2)  # type: ignore[call-arg]
        except TypeError:
            y = y * 2
    return y + 1


@program(inputs=INPUTS)
def not_handled(x: Tensor) -> Any:
    if x.sum() > 0:
        return some(x)  # type: ignore[call-arg]
    return x * 2


@program(inputs=INPUTS)
def whatever_the_data(x: Tensor) -> Any:
    if x.sum() > 0:
        x = x * 2
    return one(*[x] * 2)


PROGRAMS = [handled, in_a_branch, not_handled, whatever_the_data]


@pytest.mark.parametrize("subject", PROGRAMS, ids=lambda found: found.__name__)
def test_as_eager(subject: Any) -> None:
    verdict = agreement(subject.__program__, "any graph")
    assert verdict.kind == "equal", verdict.reason


def _call_of(function: Callable[..., Any], x: Tensor) -> Any:
    try:
        return function()
    except TypeError:
        return x if x.sum() > 0 else -x


def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, unbound_arguments)
    with pytest.raises(CaptureError, match="failed to bind"):
        compiled(_call_of)(one, torch.ones(1))


def test_functions_that_a_rewritten_one_makes() -> None:
    def made(x: Tensor) -> Any:
        try:
            return (lambda a: a)()  # type: ignore[call-arg, misc]
        except TypeError as error:
            return (x if x.sum() > 0 else -x), str(error)

    assert compiled(made)(-torch.ones(1)) == made(-torch.ones(1))
