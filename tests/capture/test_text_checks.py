"""Texts that cannot be made of every number: what is written and printed before and behind them, and their handlers."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import autograph, convert
from tests.harness import check_any_graph, program, vec

INF, NAN = float("inf"), float("nan")
FINITE = [lambda: (vec(1, 2),), lambda: (vec(INF, 1),), lambda: (vec(NAN, 2),), lambda: (vec(-3, 1),)]


class Seen:
    def __init__(self) -> None:
        self.n = 0
        self.steps: list[int] = []

    def of_what_is_not_finite(self, x: Tensor) -> Any:
        self.n += 1
        self.steps.append(1)
        print("first", self.n)
        print("%d" % x[0].item(), "shown")  # noqa: UP031
        self.n += 10
        self.steps.append(2)
        return x.add_(1), self.n

    def of_another_kind(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.n += 5
            print(f"{x[0].item():d}")
        self.n += 10
        return self.n

    def in_a_try(self, x: Tensor) -> Any:
        try:
            print("%d" % x[0].item(), "shown")  # noqa: UP031
            self.n += 1
        except (OverflowError, ValueError) as error:
            print("not finite", error)
            return -1
        finally:
            self.n += 100
        return self.n

    def of_a_tensor(self, x: Tensor) -> Any:
        try:
            print(f"{x:.2f}")
        except TypeError as error:
            print("caught", error)
            self.n += 1
        return self.n

    def in_a_loop(self, x: Tensor) -> Any:
        while x[1] < 5:
            x = x * 2
            self.n += 1
            print("%d" % x[0], f"{self.n:c}")  # noqa: UP031
        for v in x:
            if v > 1:
                try:
                    warnings.warn("%d" % v, stacklevel=1)  # noqa: UP031
                except OverflowError:
                    self.n += 10
        return self.n

    def of_an_object(self, x: Tensor) -> Any:
        print([Whole(x[1].item())])
        self.n += 1
        print(Whole(x[0].item()))
        self.n += 1
        return self.n

    def kept_for_later(self, x: Tensor) -> Any:
        text = "{:>{width}}".format(x[0].item(), width=int(x[0]))
        self.n += 1
        print(text)
        return self.n


class Whole:
    def __init__(self, value: float) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "%d" % self.value  # noqa: UP031


def _program(name: str) -> Any:
    def make() -> Any:
        return getattr(Seen(), name)

    return program(inputs=FINITE, factory=True)(make)


NAMES = [name for name, value in vars(Seen).items() if callable(value) and not name.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_as_eager(name: str) -> None:
    check_any_graph(_program(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_decorator(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for way in (lambda function: function, autograph):
        seen, outcomes = Seen(), []
        run = way(getattr(seen, name))
        for (make,) in zip(FINITE, strict=True):
            (x,) = make()
            try:
                outcomes.append(str(run(x)))
            except (ValueError, OverflowError, TypeError) as error:
                outcomes.append(repr(error))
            outcomes.append(f"{x} {seen.n} {seen.steps} {capsys.readouterr().out}")
        found.append(outcomes)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("template", "checked"),
    [("{0:.3f} {1:d} {2} {1:x} {0!r}", False), ("{0:d}", True), ("{1:c}", True), ("{2:d}", False), ("{3:.2f}", True)],
)
def test_where_it_is_checked(template: str, checked: bool) -> None:
    def run(x: Tensor) -> Tensor:
        print(template.format(x[0].item(), int(x[1]), (x[1] > 0).item(), x.int()))
        return x

    graphs = []

    def backend(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    try:
        torch.compile(convert(run), backend=backend, fullgraph=True)(vec(1, 2))
    except (ValueError, TypeError):
        assert checked
    effects = [node for node in graphs[0].graph.nodes if node.target is torch.ops.autograph_torch.effect]
    assert len(effects) == 1 + checked
