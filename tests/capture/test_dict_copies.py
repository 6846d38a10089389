"""A dict takes the entries of another one, whose class may have a `__getitem__` of its own."""

from __future__ import annotations

from collections import OrderedDict, UserDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from autograph_torch.capture.dict_copies import dict_copies
from tests.harness import check_any_graph, compiled, leave_out, program, torch_before, vec

OLDER = torch_before("2.12", "its dicts have other variables")


class Tenfold(dict[str, int]):
    def __getitem__(self, key: str) -> int:
        return super().__getitem__(key) * 10


class Doubling(OrderedDict[str, int]):
    """Python asks this one, whose class has an `__iter__` of its own."""

    def __getitem__(self, key: str) -> int:
        return super().__getitem__(key) * 2


@program(inputs=[lambda x=x: (vec(x, 2), Tenfold(a=1, b=2)) for x in (1, -1, 2)])
def dicts_of_a_class_are_copied(x, table):
    kept = {"z": 0}
    kept.update(table)
    return x, {**table}, dict(c=3, **table), kept, (lambda **named: named)(**table), table["a"]


@program(inputs=[lambda x=x: (vec(x, 2), Doubling(a=1, b=2)) for x in (1, -1, 2)])
def ordered_dicts_of_a_class_are_asked(x, table):
    return x, {**table}, dict(c=3, **table)


class Shown(dict[str, int]):
    """What it shows is not what it holds."""

    def items(self) -> Any:
        return [("shown", 1)]

    def keys(self) -> Any:
        return ["a"]


class Scaled(Mapping[str, int]):
    """Its items are not those that it gives one by one."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getitem__(self, key: str) -> int:
        self.asked.append(key)
        return len(key) * 10

    def __iter__(self) -> Iterator[str]:
        return iter(("a", "bb"))

    def __len__(self) -> int:
        return 2

    def items(self) -> Any:
        return [("never", 0)]


class Labels:
    """No mapping, but it has `keys`."""

    def keys(self) -> list[str]:
        return ["x", "yy"]

    def __getitem__(self, key: str) -> int:
        return len(key)


class Renamed(OrderedDict[str, int]):
    def items(self) -> Any:
        return [("renamed", 1)]


@program(inputs=[lambda x=x: (vec(x, 2), Shown(a=1, b=2)) for x in (1, -1, 2)])
def dicts_are_made_from_what_is_held(x, table):
    kept = defaultdict(int, table)
    return x, dict(table), dict(table, c=3), sorted(kept.items()), list(table.items())


@program(inputs=[lambda x=x: (vec(x, 2), Shown(a=1, b=2), Tenfold(a=1, b=2)) for x in (1, -1, 2)])
def ordered_dicts_ask_all_but_dicts(x, table, tenfold):
    kept = OrderedDict(z=0)
    kept.update(tenfold)
    return x, list(OrderedDict(table).items()), list(OrderedDict(tenfold, c=3).items()), list(kept.items())


@program(inputs=[lambda x=x: (vec(x, 2), Scaled(), Labels(), Renamed(a=1)) for x in (1, -1, 2)])
def mappings_are_asked_for_keys_and_items(x, scaled, labels, renamed):
    made = dict(scaled), dict(labels), OrderedDict(scaled), dict(renamed), Tenfold(scaled), OrderedDict(labels, c=3)
    return x, [list(table.items()) for table in made], scaled.asked


@program(inputs=[lambda x=x: (vec(x, 2), UserDict(a=1, b=2)) for x in (1, -1, 2)])
def mappings_behind_a_branch(x, table):
    if x.sum() > 0:
        table["c"] = 3
        x = x + dict(table)["c"]
    return x, dict(a=table["a"], d=4)


@program(inputs=[lambda x=x: (vec(x, 2), [("a", 1), ("b", 2)]) for x in (1, -1, 2)])
def pairs_are_taken_as_ever(x, pairs):
    return x, dict(pairs), OrderedDict(iter(pairs)), dict(zip("ab", (3, 4)), c=5), dict(Pairs())


class Pairs:
    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter([("p", 1)])


ALL = (
    dicts_of_a_class_are_copied,
    ordered_dicts_of_a_class_are_asked,
    dicts_are_made_from_what_is_held,
    ordered_dicts_ask_all_but_dicts,
    mappings_are_asked_for_keys_and_items,
    mappings_behind_a_branch,
    pairs_are_taken_as_ever,
)


@OLDER
@pytest.mark.parametrize("tested", ALL)
def test_as_eager(tested: Callable[..., Any]) -> None:
    check_any_graph(tested)


@OLDER
def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, dict_copies)
    assert compiled(lambda x, table: (x, {**table}))(vec(1), Tenfold(a=1))[1] == {"a": 10}
    assert compiled(lambda x, table: (x, dict(table)))(vec(1), Shown(a=1))[1] == {"shown": 1}
