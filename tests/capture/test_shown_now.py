"""Objects of the program that are printed: their own text, of the moment, with all that making it does."""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import CaptureError, convert

logger = logging.getLogger("shown")
shown_in_all = 0


class Meter:
    __slots__ = ("name", "val")

    def __init__(self, name: str) -> None:
        self.name, self.val = name, 0.0

    def __str__(self) -> str:
        return f"{self.name} {self.val:.2f}"


class Formatted(Meter):
    def __format__(self, spec: str) -> str:
        return f"<{self.val:{spec or '.1f'}}>"


class Counting:
    made = 0

    def __init__(self) -> None:
        self.val, self.shown = 0.0, 0

    def __repr__(self) -> str:
        self.shown += 1
        return f"{self.val:.1f}, shown {self.shown}"


class OfItsClass(Counting):
    def __repr__(self) -> str:
        return f"{self.val:.1f} of {self.made} and {shown_in_all}"


class Loud(Counting):
    def __str__(self) -> str:
        self.shown += 1
        print("making it")
        if self.shown == 3:
            raise ValueError(f"no text {self.shown}")
        return f"loud {self.shown}"


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))
        self.seen: Tensor
        self.val = 0.0

    def __repr__(self) -> str:
        return f"Layer {self.seen.item():.1f} {self.val:.1f}"


class Scores(dict[str, float]):
    def __str__(self) -> str:
        return ", ".join(f"{key}={value:.2f}" for key, value in self.items())


def that_are_written_to(w: Any, x: Tensor) -> Tensor:
    if x.sum() > 0:
        w.meter.val += x.sum().item()
        print(w.meter)
    w.formatted.val = x[0].item()
    print("all", w.meter, w.formatted, f"{w.formatted} {w.formatted:.3f} {w.meter!s:>12}", sep="|")
    w.scores["x"] = w.meter.val
    print(*[w.scores], end="!\n")
    w.meter.val += 1
    return x * 2


def that_count(w: Any, x: Tensor) -> Tensor:
    if x.sum() > 0:
        print(w.counting)
    print(f"{w.counting}", w.counting)
    w.counting.val += 1
    return x * 2


def that_show_more_than_themselves(w: Any, x: Tensor) -> Tensor:
    global shown_in_all
    w.of_its_class.val = x[0].item()
    print(w.of_its_class)
    OfItsClass.made += 1
    shown_in_all += 1
    print(w.of_its_class, x[1].item())
    return x


def that_print_and_raise(w: Any, x: Tensor) -> Tensor:
    w.loud.val = x[0].item()
    try:
        print("before", w.loud, "behind", sep=";", end="!\n")
    except ValueError as error:
        print("caught", error)
    return x


def modules(w: Any, x: Tensor) -> Tensor:
    w.layer.seen += x.sum()
    print(w.layer)
    w.layer.seen += 1
    w.layer.val = x[0].item()
    print("then", w.layer)
    return x


def world() -> Any:
    global shown_in_all
    OfItsClass.made = shown_in_all = 0
    meters = {"meter": Meter("loss"), "formatted": Formatted("acc"), "scores": Scores(x=1.0)}
    return SimpleNamespace(**meters, counting=Counting(), of_its_class=OfItsClass(), loud=Loud(), layer=Layer())


@pytest.mark.parametrize(
    "function", [that_are_written_to, that_count, that_show_more_than_themselves, that_print_and_raise, modules]
)
def test_what_is_printed(function: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for run in (function, torch.compile(convert(function), backend="eager", fullgraph=True)):
        here = world()
        for x in (torch.tensor([1.0, 2.0]), torch.tensor([-1.0, 0.5]), torch.tensor([-3.0, 0.5])):
            run(here, x)
        found.append((capsys.readouterr().out, here.counting.shown, here.loud.shown, here.meter.val))
    assert found[0] == found[1]


def logged(w: Any, x: Tensor) -> Tensor:
    w.counting.val = x.sum().item()
    if x.sum() > 0:
        logger.error("%s", w.counting)
    return x


def in_a_list(w: Any, x: Tensor) -> Tensor:
    w.counting.val = x.sum().item()
    if x.sum() > 0:
        print([w.counting])
    return x


@pytest.mark.parametrize("function", [logged, in_a_list])
def test_what_is_shown_elsewhere_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(CaptureError, match="AG324 a Counting, whose text its own code makes"):
        torch.compile(convert(function), backend="eager", fullgraph=True)(world(), torch.ones(2))
