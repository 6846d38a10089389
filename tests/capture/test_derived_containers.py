"""Methods of classes derived from Python's containers give what is of the same type as in eager."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, autograph
from autograph_torch.capture import derived_containers
from tests.harness import leave_out, torch_before, vec

pytestmark = torch_before("2.13", "objects of such classes are refused")


class Table(collections.OrderedDict[str, Any]):
    pass


class Plain(dict[str, Any]):
    pass


class Own(dict[str, Any]):
    @classmethod
    def fromkeys(cls, keys: Any, value: Any = None) -> Any:
        return cls(made=list(keys))


class Names(frozenset[int]):
    pass


class Members(set[int]):
    pass


class Recent(collections.deque[int]):
    pass


class Rows(list[Any]):
    pass


def _in_place(made: Any, operator_: Callable[[Any, Any], Any], other: Any) -> Any:
    changed = operator_(made, other)
    return [changed, changed is made, type(changed).__name__, made]


ASKED: dict[str, Callable[[], Any]] = {
    "copy": lambda: TABLE.copy(),
    "union": lambda: TABLE | {"c": 3},
    "from keys": lambda: Table.fromkeys("ab", 1),
    "from keys of a dict": lambda: Plain.fromkeys("ab"),
    "from keys of its own": lambda: Own.fromkeys("ab"),
    "frozen": lambda: NAMES.copy(),
    "set": lambda: MEMBERS.copy(),
    "dict": lambda: Plain(a=1).copy(),
    "in a tuple": lambda: (Names([1]), Names([2]) == Names([2]), Names([1]) == {1}),
    "rows, longer": lambda: _in_place(Rows([1]), operator.iadd, [2]),
    "rows, longer by name": lambda: _in_place(Rows([1]), lambda rows, other: rows.__iadd__(other), [2]),
    "rows, again": lambda: _in_place(Rows([1]), operator.imul, 2),
    "dict, in place": lambda: _in_place(Plain(a=1), operator.ior, {"b": 2}),
    "set, in place": lambda: _in_place(Members([1, 2]), operator.iand, {2}),
    "of Python's own": lambda: [collections.OrderedDict(a=1).copy(), frozenset([1]).copy(), dict.fromkeys("a")],
}
TABLE, NAMES, MEMBERS, RECENT = Table(a=1, b=2), Names([1]), Members([1]), Recent([1, 2], maxlen=3)


def _told(asked: Callable[[], Any], compiled: bool) -> str:
    def run(x: Tensor) -> Any:
        return asked(), x * 2 if x.sum() > 0 else x

    torch._dynamo.reset()
    found = (autograph(run, backend="eager") if compiled else run)(vec(1, 2))[0]
    return f"{type(found).__name__} {found}"


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_the_type_is_that_of_eager(asked: Callable[[], Any]) -> None:
    assert _told(asked, compiled=True) == _told(asked, compiled=False)


@pytest.mark.parametrize("name", ["copy", "union", "from keys", "frozen", "rows, longer", "dict, in place"])
def test_torch_needs_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, derived_containers.derived_containers)
    assert _told(ASKED[name], compiled=True) != _told(ASKED[name], compiled=False)


def test_an_operator_that_torch_does_not_know_is_no_value() -> None:
    with pytest.raises(CaptureError, match="AG320 `add` of what Dynamo does not know it of"):
        _told(lambda: RECENT + RECENT, compiled=True)
