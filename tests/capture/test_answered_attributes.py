"""A class's `__getattr__` is asked where the text asks, and nowhere else: it may do anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.harness import check_any_graph, program, vec

TWO = [lambda: (vec(1, 2, 3),), lambda: (vec(-1, -3, 0),), lambda: (vec(2, 1, 4),)]


class Lazy:
    """Makes statistics when they are first asked for."""

    def __init__(self, x: Tensor) -> None:
        self.x, self.made = x, []

    def __getattr__(self, name: str) -> Any:
        if name not in ("mean", "spread"):
            raise AttributeError(name)
        self.made.append(name)
        value = self.x.mean() if name == "mean" else self.x.max() - self.x.min()
        setattr(self, name, value)
        return value


class Forgiving(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.layer = nn.Identity()

    def __getattr__(self, name: str) -> Any:
        if name != "best":
            return super().__getattr__(name)
        self.asked.append(name)
        return torch.zeros(3)

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.best = self.layer(x)
        return list(self.asked), "best" in vars(self), self.best, len(self.asked)


@program(inputs=TWO)
def asked_for_in_a_branch(x: Tensor) -> Any:
    stats = Lazy(x)
    y = x * stats.spread if x.sum() > 0 else -x
    return y, stats.made, sorted(vars(stats))


@program(inputs=TWO)
def asked_for_in_a_test(x: Tensor) -> Any:
    stats = Lazy(x)
    if stats.mean > 0 and stats.spread > 0:
        x = x / stats.spread
    return x, stats.made, len(stats.made)


@program(inputs=TWO)
def asked_for_in_both(x: Tensor) -> Any:
    stats = Lazy(x)
    y = x * stats.spread if x.sum() > 0 else x - stats.mean
    return y, stats.made, stats.spread, len(stats.made)


@program(inputs=TWO, factory=True)
def set_in_a_branch() -> Callable[[Tensor], Any]:
    return Forgiving()


@program(inputs=TWO, factory=True)
def set_on_both_sides() -> Callable[[Tensor], Any]:
    state = Forgiving()

    def run(x: Tensor) -> Any:
        if x.sum() > 0:
            state.best = x
        else:
            state.best = -x
        return state.best, list(state.asked)

    return run


@program(inputs=TWO, factory=True)
def set_in_a_loop() -> Callable[[Tensor], Any]:
    def run(x: Tensor) -> Any:
        state = Forgiving()
        while x.sum() < 20:
            state.best = x
            x = x.abs() * 2 + 1
        return x, list(state.asked)

    return run


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize(
    "subject",
    [asked_for_in_a_branch, asked_for_in_a_test, asked_for_in_both, set_in_a_branch, set_on_both_sides, set_in_a_loop],
)
def test_it_is_asked_where_the_text_asks(subject: Any) -> None:
    check_any_graph(subject)
