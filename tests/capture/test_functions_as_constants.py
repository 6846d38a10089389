"""Functions that the call makes are found in lists, tuples and deques, and are equal to themselves alone."""

from __future__ import annotations

import collections
import functools
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch.capture.functions_as_constants import functions_as_constants
from tests.harness import check_any_graph, compiled, leave_out, program, torch_before, vec

INPUTS = [lambda: (vec(1, 2), 3), lambda: (vec(-1, -2), 3), lambda: (vec(1, 2), 4)]


class Hooks:
    def __init__(self) -> None:
        self.hooks: list[Callable[..., Any]] = []

    def taken_off(self, x, n):
        def hook(v):
            return v * n

        self.hooks.append(hook)
        for one in self.hooks:
            x = one(x)
        if hook in self.hooks:
            self.hooks.remove(hook)
        return x, len(self.hooks)

    def on(self, hook):
        if hook not in self.hooks:
            self.hooks.append(hook)
        return lambda: self.hooks.remove(hook)

    def by_a_handle(self, x, n):
        scale = x.mean()

        def scaled(v):
            return v * scale

        shifted = functools.partial(torch.add, other=scale)
        off = self.on(scaled)
        for hook in (scaled, shifted, shifted):
            self.on(hook)
        for hook in list(self.hooks):
            x = hook(x)
        count = len(self.hooks)
        off()
        if x.sum() > 0:
            self.hooks.pop()
        else:
            self.hooks.clear()
        return x, count, len(self.hooks), scaled in self.hooks, shifted in self.hooks


@program(inputs=INPUTS, factory=True)
def a_hook_is_taken_off():
    return Hooks().taken_off


@program(inputs=INPUTS, factory=True)
def a_hook_is_taken_off_by_a_handle():
    return Hooks().by_a_handle


@program(inputs=INPUTS)
def each_is_called_once(x, n):
    shift = lambda v: v + n  # noqa: E731
    kept: list[Any] = []
    for one in (shift, shift, lambda v: v * n):
        if one not in kept:
            kept.append(one)
    for one in kept:
        x = one(x)
    return x, len(kept)


@program(inputs=INPUTS)
def with_containers_in_them(x, n):
    pair = (n, 1)
    largest, kept = functools.partial(max, pair), lambda: pair
    both = [kept, largest]
    found = largest in both, kept in (kept,), both.index(largest), collections.deque(both).count(kept)
    return x + largest(), found, [kept] == [kept], kept != kept


@program(inputs=INPUTS)
def with_a_cell_that_changes(x, n):
    k = 1

    def shown(_=None):
        return str(k)

    kept = [shown]
    before = shown in kept, re.sub("a", shown, "aba")
    k = 2
    return x, before, shown in kept, re.sub("a", shown, "aba"), kept.index(shown), kept.count(shown)


@program(inputs=INPUTS)
def with_tensors_in_them(x, n):
    def up(v):
        return v + x

    def down(v):
        return v - x

    left = [up, down, up]
    place, last = left.index(down), left.index(up, 1)
    while up in left:
        left.remove(up)
    for one in left:
        x = one(x * 2)
    return x, place, last, len(left), left.count(down), up == down, up != down


@program(inputs=INPUTS)
def that_are_not_there(x, n):
    def up(v):
        return v + x

    def down(v):
        return v - x

    said = []
    try:
        [up].remove(down)
    except ValueError as error:
        said.append(str(error))
    try:
        (up,).index(down)
    except ValueError as error:
        said.append(str(error))
    return x, said


OLDER = torch_before("2.12", "two functions with tensors in them are not compared")
PROGRAMS: Any = (
    a_hook_is_taken_off,
    pytest.param(a_hook_is_taken_off_by_a_handle, marks=OLDER, id="a_hook_is_taken_off_by_a_handle"),
    each_is_called_once,
    with_containers_in_them,
    with_a_cell_that_changes,
    pytest.param(with_tensors_in_them, marks=OLDER, id="with_tensors_in_them"),
    pytest.param(that_are_not_there, marks=OLDER, id="that_are_not_there"),
)


@pytest.mark.parametrize("tested", PROGRAMS, ids=lambda tested: tested.__name__)
def test_they_are_found(tested: Callable[..., Any]) -> None:
    check_any_graph(tested)


def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(x: torch.Tensor) -> Any:
        one = lambda v: v  # noqa: E731
        return x, one in [one]

    leave_out(monkeypatch, functions_as_constants)
    assert not compiled(found)(vec(1))[1]
