"""Sets of constants are gone through in Python's order."""

from __future__ import annotations

import operator
import random
import warnings
from typing import Any

import pytest
import torch
from torch._dynamo.variables import SetVariable

from autograph_torch import CaptureError, convert


def orders(x: torch.Tensor) -> Any:
    members = {16, 3, 9}
    if x.sum() > 0:
        x = x + 1
    made = set([9, 3, 16, 8, 1])  # noqa: C405
    added = set()
    for k in (9, 3, 16, 8):
        added.add(k)
    parts = list(members), list(made), (*added,), [k for k in added], dict.fromkeys(added), sorted(added)  # noqa: C416
    return x, *parts, list(added.copy()), list(zip(added, made, strict=False)), added.pop()


def frozen(x: torch.Tensor) -> Any:
    if x.sum() > 0:
        x = x + 1
    made = frozenset([9, 3, 16, 8])
    return x, list(made), (*made,), [k for k in made], sorted(made)  # noqa: C416


def test_order_of_frozen_sets() -> None:
    compiled = torch.compile(convert(frozen), backend="eager", fullgraph=True)
    assert [*map(str, compiled(torch.ones(1)))] == [*map(str, frozen(torch.ones(1)))]


def test_order() -> None:
    compiled = torch.compile(convert(orders), backend="eager", fullgraph=True)
    assert [*map(str, compiled(torch.ones(1)))] == [*map(str, orders(torch.ones(1)))]


def test_torch_needs_it() -> None:
    def order(x: torch.Tensor) -> Any:
        added = set()
        for k in (9, 3, 16, 8):
            added.add(k)
        return x, list(added)

    compiled = torch.compile(order, backend="eager", fullgraph=True)
    assert compiled(torch.ones(1))[1] != order(torch.ones(1))[1], "remove autograph_torch/capture/sets.py"


class Seen:
    def __init__(self) -> None:
        self.names = {"a", "b", "c"}
        self.again = self.names


def without(x: torch.Tensor, seen: Seen) -> torch.Tensor:
    gone = {"a"} if len(seen.names) > 2 else {"b", "z"}
    seen.names -= gone
    if x.sum() > 0:
        x = x + len(seen.names)
    return x


def test_what_a_set_from_before_has_lost() -> None:
    expected, actual = Seen(), Seen()
    compiled = torch.compile(convert(without), backend="eager", fullgraph=True)
    for values in (1, -1, 2):
        x = torch.full((2,), float(values))
        assert torch.equal(compiled(x, actual), without(x, expected))
        assert actual.names == expected.names and actual.again is actual.names


@pytest.mark.skipif(not hasattr(SetVariable, "nb_inplace_subtract_impl"), reason="this torch has an update there")
def test_torch_needs_it_for_what_is_lost() -> None:
    seen = Seen()
    torch.compile(without, backend="eager", fullgraph=False)(-torch.ones(1), seen)
    assert "a" in seen.names, "remove _subtraction from autograph_torch/capture/sets.py"


@pytest.mark.parametrize("change", [operator.ior, operator.isub, operator.iand, operator.ixor])
def test_a_branch_that_meets_a_set_first(change: Any) -> None:
    def kept(x: torch.Tensor, seen: Seen) -> torch.Tensor:
        if x.sum() > 0:
            change(seen.names, {"a", "z"})
        return x

    with pytest.raises(CaptureError, match="AG310 a branch or loop on a tensor writes to a set"):
        torch.compile(convert(kept), backend="eager", fullgraph=True)(torch.ones(1), Seen())


def sequence(seed: int) -> list[tuple[str, Any]]:
    """Things to do with a set, in some order."""
    draw = random.Random(seed)
    steps: list[tuple[str, Any]] = []
    for _ in range(draw.randint(3, 12)):
        name = draw.choice("add add add discard pop update |= -= ^= &= clear copy union".split())
        several = [draw.randint(0, 40) for _ in range(draw.randint(0, 9))]
        steps.append((name, draw.randint(0, 40) if name in ("add", "discard") else several))
    return steps


@pytest.mark.skipif(not hasattr(SetVariable, "nb_or_impl"), reason="torch 2.11 computes them otherwise")
@pytest.mark.parametrize("seed", range(60))
def test_order_behind_changes(seed: int) -> None:
    steps = sequence(seed)

    def function(x: torch.Tensor, begun: set[int]) -> Any:
        taken, seen = [], []
        made = {9, 3, 16}
        for one in (made, begun):
            for name, argument in steps:
                if name == "pop":
                    if one:
                        taken.append(one.pop())
                elif name == "|=":
                    one |= set(argument)
                elif name == "-=":
                    one -= set(argument)
                elif name == "^=":
                    one ^= set(argument)
                elif name == "&=":
                    one &= set([*argument, 3, 5, 7, 9, 11])
                elif name == "copy":
                    seen.append(list(one.copy()))
                elif name == "union":
                    seen.append(list(one | set(argument)))
                elif name == "clear":
                    one.clear()
                else:
                    getattr(one, name)(argument)
                seen.append(list(one))
        return x + 1, taken, seen

    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    expected, found = function(torch.ones(1), {5, 1, 7}), compiled(torch.ones(1), {5, 1, 7})
    assert found[1:] == expected[1:]


def noted(x: torch.Tensor, seen: Seen, key: Any) -> torch.Tensor:
    seen.names.add(key)
    return x + len(seen.names) if x.sum() > 0 else x


def test_a_set_of_objects_from_before_is_written_back() -> None:
    expected, actual = Seen(), Seen()
    compiled = torch.compile(convert(noted), backend="eager", fullgraph=True)
    for key in ((1, "b"), str, torch.float32, Seen(), str):
        assert torch.equal(compiled(torch.ones(1), actual, key), noted(torch.ones(1), expected, key))
        assert actual.names == expected.names and actual.again is actual.names


def worklist(x: torch.Tensor) -> Any:
    n = int(x)
    todo, out = {n}, 0
    while todo:
        k = todo.pop()
        out = out * 10 + k
        if k > 1:
            todo.add(k // 2)
            todo.add(k - 1)
    return out


def test_a_worklist() -> None:
    compiled = torch.compile(convert(worklist), backend="eager", fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [compiled(torch.tensor(n)) for n in (5, 1, 4)] == [worklist(torch.tensor(n)) for n in (5, 1, 4)]
