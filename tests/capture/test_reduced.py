"""copy.copy and copy.deepcopy of objects: all that eager copies."""

from __future__ import annotations

import collections
import copy
import dataclasses
import datetime
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import CaptureError, autograph
from autograph_torch.capture import inlining
from tests.harness import torch_before, vec

pytestmark = torch_before("2.13", "objects cannot be copied")


class Table(dict[str, Any]):
    pass


class Rows(list[Any]):
    pass


class Ordered(collections.OrderedDict[str, Any]):
    pass


class Path(tuple[Any, ...]):
    pass


class Steps(int):
    pass


class Rate(float):
    pass


class Name(str):
    pass


Point = collections.namedtuple("Point", "x y")


class Measured(Point):
    def total(self) -> Any:
        return self.x + self.y


class Stateful:
    def __init__(self) -> None:
        self.a, self.cache = 1, {1: 2}

    def __getstate__(self) -> dict[str, Any]:
        return {"a": self.a + 10}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.cache = {}


class Reduced:
    def __init__(self, a: int) -> None:
        self.a = a

    def __reduce__(self) -> Any:
        return Reduced, (self.a * 2,)


class Slotted:
    __slots__ = ("a", "unset")

    def __init__(self) -> None:
        self.a = [1]


class SlottedAndMore(Slotted):
    def __init__(self) -> None:
        super().__init__()
        self.more = [2]


class Made:
    def __new__(cls, key: int) -> Any:
        made = super().__new__(cls)
        made.key = key
        return made

    def __getnewargs__(self) -> tuple[int]:
        return (self.key,)


class MadeByName:
    def __new__(cls, *, a: int) -> Any:
        made = super().__new__(cls)
        made.a = a
        return made

    def __getnewargs_ex__(self) -> tuple[Any, ...]:
        return (), {"a": self.a}


class Restored:
    """Without attributes, which CPython tells apart from 3.11 on."""

    a = "unset"

    def __setstate__(self, state: Any) -> None:
        self.a = f"state {state}"


class RestoredSlots:
    __slots__ = ("a",)

    def __setstate__(self, state: Any) -> None:
        self.a = f"state {state}"


@dataclasses.dataclass
class Record:
    a: int
    rows: list[int]


class Itself:
    def __init__(self) -> None:
        self.me, self.rows = self, [self]


def _tagged() -> Ordered:
    made = Ordered(a=1, b=[2])
    made.tag = 5
    return made


OBJECTS = {
    "ordered dict": lambda: collections.OrderedDict(a=1, b=vec(1, 2), c=[3]),
    "ordered dict of a class": _tagged,
    "counter": lambda: collections.Counter("aab"),
    "dict of a class": lambda: Table(a=[1]),
    "list of a class": lambda: Rows([1, [2]]),
    "tuple of a class": lambda: Path([1, [2]]),
    "numbers of classes": lambda: [Steps(3), Rate(2.5), Name("x")],
    "named tuples": lambda: [Point(1, [2]), Measured(1, 2)],
    "state of its own": Stateful,
    "parts of its own": lambda: Reduced(3),
    "slots": lambda: [Slotted(), SlottedAndMore()],
    "arguments": lambda: Made(4),
    "named arguments": lambda: MadeByName(a=4),
    "no state": lambda: [Restored(), RestoredSlots()],
    "namespace": lambda: types.SimpleNamespace(a=1, rows=[2]),
    "record": lambda: Record(1, [2]),
    "itself": Itself,
    "set of a list": lambda: {"a": [frozenset([1]), {2}]},
}


def _picture(value: Any, depth: int = 0) -> Any:
    """What there is of a value, with the names of the types."""
    if depth > 4:
        return "..."
    kind = type(value).__name__
    names = {*getattr(value, "__dict__", {}), *(name for name in ("a", "unset") if hasattr(value, name))}
    parts: list[Any] = [(name, _picture(getattr(value, name), depth + 1)) for name in sorted(names)]
    if isinstance(value, dict):
        parts += [(key, _picture(item, depth + 1)) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        parts += [_picture(item, depth + 1) for item in value]
    elif type(value).__repr__ is not object.__repr__ and not names:
        parts.append(str(value))
    return kind, parts


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else list(getattr(value, "__dict__", {}).values())


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("made", OBJECTS.values(), ids=OBJECTS)
def test_a_copy_has_all_that_there_is(made: Callable[[], Any], how: Callable[[Any], Any]) -> None:
    torch._dynamo.reset()
    given = made()

    def copied(x: Tensor) -> Any:
        return how(given), x * 2 if x.sum() > 0 else x

    expected, found = how(given), autograph(copied, backend="eager")(vec(1, 2))[0]
    assert _picture(found) == _picture(expected)
    shared = [one is other for one, other in zip(_parts(expected), _parts(given), strict=True)]
    assert [one is other for one, other in zip(_parts(found), _parts(given), strict=True)] == shared


def test_what_is_not_known_is_refused() -> None:
    day = datetime.date(2020, 1, 1)
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match="AG320 a copy of an object of type date"):
        autograph(lambda x: (copy.copy(day), x), backend="eager")(vec(1))


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inlining, "_INSTEAD", {})
    torch._dynamo.reset()
    given = collections.OrderedDict(a=1)
    assert autograph(lambda x: (copy.copy(given), x), backend="eager")(vec(1))[0] == {}


class Trained(nn.Module):
    """Keeps the best weights, and comes back to them."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=0.1)
        self.best = float("inf")
        self.kept: Any = None

    def forward(self, x: Tensor, y: Tensor) -> Any:
        loss = ((self.net(x) - y) ** 2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if loss < self.best:
            self.best = loss.item()
            self.kept = copy.deepcopy(self.net.state_dict()), copy.deepcopy(self.optimizer.state_dict())
        elif loss > 2 * self.best:
            self.net.load_state_dict(self.kept[0])
        return loss.item()


def test_the_best_weights_are_kept() -> None:
    torch._dynamo.reset()
    plain, other = Trained(), Trained()
    fast = autograph(other, backend="eager")
    for step in range(6):
        torch.manual_seed(step)
        x, y = torch.randn(4, 3), torch.randn(4, 1) * (1 if step % 3 else 5)
        assert fast(x, y) == plain(x, y)
    assert str(other.kept) == str(plain.kept)
    assert str(other.kept[0]._metadata) == str(plain.kept[0]._metadata)
