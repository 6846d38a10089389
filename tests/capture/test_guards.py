"""A guard that is there already is not installed again."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import torch
from torch import Tensor
from torch._guards import GuardsSet

from autograph_torch import convert
from tests.harness import torch_before

ONCE = torch_before("2.12", "guards are not kept by what they ask about, and all of them are installed")


def scaled(x: Tensor, by: int = 2) -> Tensor:
    return x * by


def many_calls(x: Tensor) -> Tensor:
    if x.sum() > 0:
        x = x + 1
    for _ in range(50):
        x = scaled(x)
    return x


def guards_of(function: Any, monkeypatch: Any) -> Counter[tuple[str, str]]:
    """How often each guard is installed by a trace: its place and its kind."""
    installed: Counter[tuple[str, str]] = Counter()
    track = GuardsSet.track_guard_by_source

    def counted(self: Any, guard: Any) -> None:
        installed[guard.name, getattr(guard.create_fn, "__name__", "")] += 1
        track(self, guard)

    monkeypatch.setattr(GuardsSet, "track_guard_by_source", counted)
    torch._dynamo.reset()
    torch.compile(function, fullgraph=True, backend="eager")(torch.ones(3))
    monkeypatch.undo()
    return installed


def on_defaults(installed: Counter[tuple[str, str]]) -> list[int]:
    """How often each of the guards on the defaults of `scaled` is installed."""
    return [count for (name, _), count in installed.items() if name.startswith("G['scaled'].__defaults__")]


@ONCE
def test_a_guard_is_installed_once(monkeypatch: Any) -> None:
    installed = on_defaults(guards_of(convert(many_calls), monkeypatch))
    assert installed and set(installed) == {1}


@torch_before("2.13", "torch 2.12 does it by itself")
def test_torch_installs_it_for_each_call(monkeypatch: Any) -> None:
    """When this fails, torch no longer needs `guards_once`."""

    def plain(x: Tensor) -> Tensor:
        for _ in range(50):
            x = scaled(x)
        return x

    assert max(on_defaults(guards_of(plain, monkeypatch))) == 50


def test_guards_that_ask_for_different_things_stay(monkeypatch: Any) -> None:
    """A call with another default, or another size, is traced anew."""
    compiled = torch.compile(convert(many_calls), fullgraph=True, backend="eager")
    monkeypatch.setattr(scaled, "__defaults__", (1,))
    assert compiled(torch.ones(3)).equal(many_calls(torch.ones(3)))
    monkeypatch.setattr(scaled, "__defaults__", (3,))
    assert compiled(torch.ones(3)).equal(many_calls(torch.ones(3)))
    assert compiled(torch.ones(4)).equal(many_calls(torch.ones(4)))


def uses_modules(x: Tensor) -> Tensor:
    for k in range(3):
        if x.sum() > k:
            x = x + 1
    while x.sum() < 10:
        x = x * 2
    return x


@ONCE
def test_a_guard_with_arguments_is_installed_once(monkeypatch: Any) -> None:
    """That two names lead to one module is a guard with the other name in it, made anew each time."""
    installed: list[tuple[str, str]] = []
    track = GuardsSet.track_guard_by_source

    def counted(self: Any, guard: Any) -> None:
        if isinstance(guard.create_fn, functools.partial):
            installed.append((guard.name, repr(guard.create_fn)))
        track(self, guard)

    monkeypatch.setattr(GuardsSet, "track_guard_by_source", counted)
    torch.compile(convert(uses_modules), fullgraph=True, backend="eager")(torch.ones(3))
    assert installed and max(Counter(installed).values()) == 1


class Counted(torch.nn.Module):
    """Gives how many calls there have been, by a dict in a module of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Identity()
        self.inner.table = {}

    def forward(self, x: Tensor) -> Tensor:
        table: Any = self.inner.table
        table[len(table)] = 0
        return x * len(table)


def test_a_dict_in_a_module_that_the_first_call_writes_to() -> None:
    compiled = torch.compile(convert(Counted()), fullgraph=True, backend="eager")
    assert [compiled(torch.ones(1)).item() for _ in range(3)] == [1, 2, 3]
