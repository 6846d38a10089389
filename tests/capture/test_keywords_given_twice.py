"""A keyword that a call is given twice is a TypeError, as in Python."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch.capture.keywords_given_twice import keywords_given_twice
from tests.harness import check_any_graph, compiled, leave_out, program, torch_before, vec

INPUTS = [lambda: (vec(1, 2), {"lr": 2}), lambda: (vec(-1, -2), {"lr": 3}), lambda: (vec(1, 2), {"by": 4})]


def step(x: Any, lr: Any = 1, by: Any = 0) -> Any:
    return x * lr + by


class Scale:
    def __init__(self, lr: Any = 1, by: Any = 0) -> None:
        self.lr = lr

    def of(self, x: Tensor, lr: Any = 1, by: Any = 0) -> Tensor:
        return x * lr


class Options:
    """A mapping of the user's, which notes what it is asked for."""

    def __init__(self, known: dict[str, Any], asked: list[Any]) -> None:
        self.known, self.asked = known, asked

    def keys(self) -> Any:
        self.asked.append("keys")
        return self.known.keys()

    def __getitem__(self, key: str) -> Any:
        self.asked.append(key)
        return self.known[key]


def by_a_nested_one(x: Tensor, options: Any) -> Any:
    def nested(x: Any, lr: Any = 0, by: Any = 1) -> Any:
        return x * lr

    return nested(x, **{"lr": 1}, **options)


def of_a_mapping(x: Tensor, options: Any) -> Any:
    asked: list[Any] = []
    y = step(x, **Options(options, asked))
    return y, asked


CALLS: dict[str, Callable[[Tensor, Any], Any]] = {
    "name first": lambda x, options: step(x, lr=2, **options),
    "dict first": lambda x, options: step(x, **options, lr=2),
    "two dicts": lambda x, options: step(x, **options, **options),
    "of dict": lambda x, options: dict(lr=2, **options),
    "nested": by_a_nested_one,
    "class": lambda x, options: Scale(lr=1, **options).lr,
    "method": lambda x, options: Scale().of(x, lr=1, **options),
    "torch": lambda x, options: torch.add(x, 1, alpha=1, **({"alpha": 2} if "lr" in options else {})),
    "ordered": lambda x, options: step(x, lr=1, **collections.OrderedDict(options)),
    "default": lambda x, options: step(x, lr=1, **collections.defaultdict(int, options)),
    "mapping": of_a_mapping,
    "mapping and name": lambda x, options: step(x, lr=1, **Options(options, [])),
    "none": lambda x, options: step(x, **None),  # type: ignore[arg-type]
    "number": lambda x, options: step(x, lr=1, **3),  # type: ignore[arg-type]
    "once": lambda x, options: (lambda **known: sorted(known))(**options, c=1),
}


OLDER = torch_before("2.12", "a dict is not updated with another mapping")
MARKED = [pytest.param(call, marks=[OLDER] if call.startswith("mapping") else []) for call in CALLS]


@pytest.mark.parametrize("call", MARKED)
def test_it_is_an_error(call: str) -> None:
    called = CALLS[call]

    @program(inputs=INPUTS)
    def handled(x, options):
        try:
            found = called(x, options)
        except TypeError as error:
            found = str(error)
        if x.sum() > 0:
            x = x + 1
        return x, found

    check_any_graph(handled)


def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, keywords_given_twice)
    assert compiled(CALLS["name first"])(vec(1), {"lr": 3}).tolist() == [3.0]
