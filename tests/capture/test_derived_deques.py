"""Objects of classes derived from collections.deque are followed as objects of classes derived from a list are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, autograph
from autograph_torch.capture import derived_deques
from tests.calls_in_turn import Calls, calls_between_changes, differing_calls
from tests.harness import leave_out, torch_before, vec

pytestmark = torch_before("2.13", "objects of such classes are refused")


class Plain(deque[Any]):
    pass


class Window(deque[Any]):
    def __init__(self, size: int, start: Any = ()) -> None:
        super().__init__(start, maxlen=size)
        self.total = 0

    def push(self, value: Any) -> bool:
        if len(self) == self.maxlen:
            self.total -= self[0]
        self.append(value)
        self.total += value
        return len(self) == self.maxlen


class OnTheLeft(deque[Any]):
    def append(self, value: Any) -> None:
        super().appendleft(value)


class Sorted(deque[Any]):
    def __iter__(self) -> Any:
        return iter(sorted(super().__iter__()))


class Counted(deque[Any]):
    def __len__(self) -> int:
        return 2


USES: dict[str, Callable[[Any], Any]] = {
    "length": lambda held: (len(held), bool(held), held.maxlen, 1 if held else 2),
    "elements": lambda held: (held[0], held[-1], [*held], 2 in held, sum(held), max(held), list(reversed(held))),
    "append": lambda held: (held.append(7), len(held)),
    "on the left": lambda held: (held.appendleft(7), held.extendleft([8, 9])),
    "others": lambda held: held.extend([5, 6]),
    "taken": lambda held: (held.pop(), held.popleft()),
    "turned": lambda held: held.rotate(1),
    "an element": lambda held: held.__setitem__(1, 9),
    "no elements": lambda held: (held.clear(), bool(held)),
    "in place": lambda held: held.__iadd__([3]) is held,
    "copied": lambda held: (held.copy() if type(held) is Plain else None, deque(held)),
    "compared": lambda held: (held == deque([1, 2, 4]), held == [1, 2, 4]),
    "filled again": lambda held: held.__init__([3], 1) if type(held) is Plain else None,
    "an attribute": lambda held: setattr(held, "mark", 3),
}
KINDS: dict[str, Callable[[], Any]] = {
    "plain": lambda: Plain([1, 2, 4]),
    "of a length": lambda: Plain([1, 2, 4], maxlen=4),
    "with methods": lambda: Window(4, [1, 2, 4]),
    "with methods of a deque's": lambda: OnTheLeft([4, 1, 2]),
}


def _shown(found: Any) -> Any:
    if isinstance(found, (tuple, list)):
        return [_shown(one) for one in found]
    if isinstance(found, deque):
        return type(found).__name__, list(deque.__iter__(found)), found.maxlen, getattr(found, "__dict__", None)
    return found


def _used(kind: Callable[[], Any], use: Callable[[Any], Any], compiled: bool) -> Any:
    def run(x: Tensor, old: Any, state: Any) -> Any:
        made = kind()
        state.made = made
        return use(old), use(made), old, made, x * 2 if x.sum() > 0 else x

    torch._dynamo.reset()
    old, state = kind(), SimpleNamespace()
    *found, _ = (autograph(run, backend="eager") if compiled else run)(vec(1, 2), old, state)
    assert found[2] is old and found[3] is state.made
    return _shown(found)


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_uses(kind: Callable[[], Any], use: Callable[[Any], Any]) -> None:
    assert _used(kind, use, compiled=True) == _used(kind, use, compiled=False)


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, derived_deques.derived_deques)
    with pytest.raises(CaptureError):
        _used(KINDS["plain"], len, compiled=True)


def test_a_window_of_tensors() -> None:
    def run(x: Tensor, window: Any) -> Any:
        full = window.push(x)
        if full and window[0].sum() > 0:
            x = x + window[0]
        for old in window:
            if old.sum() > 2:
                x = x * 2
        return x, full, window.total

    compiled, expected, actual = autograph(run, backend="eager"), Window(2), Window(2)
    for values in ((1, 2), (-1, -4), (3, 1), (0, 0)):
        assert str(compiled(vec(*values), actual)) == str(run(vec(*values), expected))
        assert str(_shown(actual)) == str(_shown(expected))


@pytest.mark.parametrize("kind", [Plain, set, type("Members", (set,), {})])
def test_stored_by_a_branch(kind: Any) -> None:
    def run(x: Tensor, state: Any) -> Tensor:
        made = kind([len(x)])
        if x.sum() > 0:
            state.kept = made
        return x + len(made)

    compiled, state = autograph(run, backend="eager"), SimpleNamespace(kept=None)
    for count, sign, expected in ((1, 1, 1), (2, -1, 1), (3, 1, 3), (4, -1, 3)):
        before = state.kept
        compiled(torch.full((count,), float(sign)), state)
        assert list(state.kept) == [expected] and (state.kept is before) == (sign < 0)


def test_later_calls() -> None:
    def asked() -> Calls:
        def run(x: Tensor, held: Any) -> Any:
            held.append(len(held))
            return x + 1 if x.sum() > 0 else x, held[0], list(held), held.maxlen

        changes = [lambda held: held.append(7), lambda held: held.__init__([1], 2), lambda held: held.rotate(1)]
        return calls_between_changes(run, lambda: Plain([1, 5], 3), changes)()

    assert not differing_calls(asked)


@pytest.mark.parametrize("use", [lambda held: held * 2, lambda held: held + held, repr], ids=["times", "plus", "text"])
def test_what_gives_another_one_is_refused(use: Callable[[Any], Any]) -> None:
    with pytest.raises(CaptureError, match="AG320"):
        _used(KINDS["plain"], use, compiled=True)


@pytest.mark.parametrize("kind", [Counted, Sorted])
def test_a_length_or_iterator_of_its_own_is_refused(kind: Any) -> None:
    with pytest.raises(CaptureError, match="AG320"):
        _used(lambda: kind([1]), lambda held: held == deque([1]), compiled=True)
