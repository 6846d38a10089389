"""Sets of the user's own classes hold behind the graph what they hold in eager."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, autograph
from autograph_torch.capture import derived_sets
from tests.calls_in_turn import Calls, calls_between_changes, differing_calls
from tests.harness import leave_out, torch_before, vec

pytestmark = torch_before("2.13", "objects of such classes are refused")


class Names(set[Any]):
    pass


class Tagged(set[Any]):
    def __init__(self, members: Any, tag: str) -> None:
        super().__init__(members)
        self.tag = tag

    def add(self, member: Any) -> None:
        super().add(member * 10)

    def update(self, *others: Any) -> None:
        raise ValueError("no others")


CHANGES: dict[str, Callable[[Any], Any]] = {
    "none": len,
    "one more": lambda made: made.add(3),
    "one less": lambda made: made.discard(1),
    "gone and back": lambda made: (made.discard(1), made.add(True)),
    "nothing left": lambda made: made.clear(),
    "any one": lambda made: made.pop(),
    "others": lambda made: set.update(made, [7], {9}),
    "common ones": lambda made: made.intersection_update({2, 4}),
    "an operator": lambda made: made.__ixor__({1, 6}),
    "filled again": lambda made: set.__init__(made, [5]),
    "an attribute": lambda made: setattr(made, "tag", "v"),
}
MAKERS: dict[str, Callable[[], Any]] = {
    "empty": lambda: Names({0}),
    "of a list": lambda: Names([1, 2]),
    "of a set": lambda: Names({1, 2, 4}),
    "with attributes": lambda: Tagged([1, 2], "u"),
}


def _shown(*found: Any) -> list[Any]:
    return [(type(one).__name__, list(one), vars(one)) for one in found]


def _made(make: Callable[[], Any], change: Callable[[Any], Any], compiled: bool) -> list[Any]:
    def run(x: Tensor, state: Any, old: Any) -> Any:
        made = make()
        change(made)
        change(old)
        state.kept, state.listed = made, [made]
        return made, x * 2 if x.sum() > 0 else x

    torch._dynamo.reset()
    state, old = SimpleNamespace(), make()
    made, _ = (autograph(run, backend="eager") if compiled else run)(vec(1, 2), state, old)
    assert state.kept is made and state.listed[0] is made
    return _shown(made, old)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_members(make: Callable[[], Any], change: Callable[[Any], Any]) -> None:
    assert _made(make, change, compiled=True) == _made(make, change, compiled=False)


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, derived_sets.derived_sets)
    assert _made(lambda: Names([1]), len, compiled=True) == [("Names", [], {}), ("Names", [1], {})]


class Labelled:
    def __init__(self, label: int) -> None:
        self.label = label

    def __hash__(self) -> int:
        return self.label

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labelled) and other.label == self.label


def test_members_are_hashed_when_they_have_their_attributes() -> None:
    def run(x: Tensor, state: Any) -> Tensor:
        state.one = Labelled(3)
        state.names = Names([state.one])
        return x + 1 if x.sum() > 0 else x

    state = SimpleNamespace()
    autograph(run, backend="eager")(vec(1, 2), state)
    assert list(state.names) == [Labelled(3)] and next(iter(state.names)) is state.one


def test_later_calls() -> None:
    def asked() -> Calls:
        def run(x: Tensor, names: Any) -> Any:
            names.add(len(names))
            return x + 1 if x.sum() > 0 else x, 7 in names, sorted(names)

        changes = [lambda names: names.add(7), lambda names: names.discard(7), lambda names: names.update({8, 9})]
        return calls_between_changes(run, lambda: Names([1, 5]), changes)()

    assert not differing_calls(asked)


def test_a_branch_that_fills_one_is_refused() -> None:
    def run(x: Tensor, names: Any) -> Any:
        if x.sum() > 0:
            names.add(3)
        return x

    with pytest.raises(CaptureError, match="AG310"):
        autograph(run, backend="eager")(vec(1, 2), Names([1]))
