"""A dict takes the entries of another one, whose class may have a `__getitem__` of its own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
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


@OLDER
@pytest.mark.parametrize("tested", [dicts_of_a_class_are_copied, ordered_dicts_of_a_class_are_asked])
def test_as_eager(tested: Callable[..., Any]) -> None:
    check_any_graph(tested)


@OLDER
def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, dict_copies)
    assert compiled(lambda x, table: (x, {**table}))(vec(1), Tenfold(a=1))[1] == {"a": 10}
