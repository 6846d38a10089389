"""Objects from before the call that are entered: what they keep, hide, hand out and swallow, as in eager."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch.capture.entered_objects import entered_objects
from tests.calls_in_turn import Calls, differing_calls
from tests.harness import check_any_graph, compiled, leave_out, program, vec


class Scope:
    """Counts, and swallows one kind of exceptions."""

    def __init__(self, swallows: type[Exception] = ValueError) -> None:
        self.swallows, self.depth, self.left = swallows, 0, []
        self.limit: Any = 2.0

    def __enter__(self) -> Any:
        self.depth += 1
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        self.depth -= 1
        self.left.append((self.depth, None if kind is None else f"{kind.__name__}: {error}"))
        return kind is not None and issubclass(kind, self.swallows)


class Inner(Scope):
    def __enter__(self) -> list[Any]:
        super().__enter__()
        return self.left


class Refusing(Scope):
    def __enter__(self) -> Any:
        raise KeyError("closed")


class Layer(nn.Module):
    """A module that is a context manager: it freezes its weight, whose value depends on what has been done inside."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.inside = torch.zeros(2)

    def __enter__(self) -> Tensor:
        self.inside = self.inside + 1
        return self.inside

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Tensor:
        with torch.no_grad():
            self.weight.mul_(2 if kind is None else 3)
        return self.inside.sum() > 4  # a tensor decides


def _world(kind: Callable[[], Any] = Scope) -> SimpleNamespace:
    return SimpleNamespace(scope=kind(), seen=0)


ENDED = [lambda: (_world(), vec(1, 2)), lambda: (_world(), vec(-1, 0.5)), lambda: (_world(), vec(-1, -2))]


@program(inputs=ENDED)
def entered(w: Any, x: Tensor) -> Any:
    with w.scope as scope:
        w.seen += 1
        if x.sum() > 0:
            raise ValueError(f"positive {x.sum().item():.1f}")
        x = x * scope.limit
    if x.max() > 0:
        w.seen += 10
    return x, scope is w.scope, scope.depth, scope.left, w.seen


@program(inputs=ENDED)
def passes(w: Any, x: Tensor) -> Any:
    with w.scope:
        if x.sum() > 0:
            raise LookupError("not negative")
        if x.max() > 0:
            raise TypeError("mixed")
    return w.scope.left, w.scope.depth


@program(inputs=ENDED)
def returned_from_a_block(w: Any, x: Tensor) -> Any:
    with w.scope as scope:
        if x.sum() > 0:
            return x * 2, scope.depth
        x = x - 1
    return x, scope.depth


@program(inputs=ENDED)
def in_a_loop(w: Any, x: Tensor) -> Any:
    total = x * 0
    for v in x:
        with w.scope as scope:
            if v > 1.5:
                break
            if v < -1.5:
                raise ValueError("low")
            if v < 0:
                continue
            total = total + v
        w.seen += 1
    return total, w.seen, scope.left


@program(inputs=ENDED)
def twice_and_nested(w: Any, x: Tensor) -> Any:
    with w.scope as outer, w.scope as inner:
        depth = outer.depth
        with w.scope:
            depth = depth * 10 + inner.depth
            if x.sum() > 0:
                raise ValueError("innermost")
        depth = depth * 10 + w.scope.depth
    return depth, w.scope.left


@program(inputs=ENDED)
def where_data_decide(w: Any, x: Tensor) -> Any:
    if x.sum() > 0:
        with w.scope as scope:
            scope.limit = x.sum()
            x = x * 2
    elif x.max() > 0:
        with w.scope:
            raise ValueError("swallowed")
    return x, w.scope.limit, w.scope.left


@program(inputs=[lambda: (_world(Inner), vec(1, 2)), lambda: (_world(Inner), vec(-1, -2))])
def inherited(w: Any, x: Tensor) -> Any:
    with w.scope as left:
        if x.sum() > 0:
            left.append("inside")
            raise ValueError("swallowed")
    return left, left is w.scope.left


@program(inputs=[lambda: (_world(Refusing), vec(1, 2)), lambda: (_world(Refusing), vec(-1, -2))])
def not_entered(w: Any, x: Tensor) -> Any:
    try:
        with w.scope:
            w.seen += 1
    except KeyError as error:
        w.seen += 10
        x = x + len(error.args)
    return (x if x.sum() > 0 else -x), w.seen, w.scope.left


def _given(w: Any) -> Any:
    w.seen += 1
    return w.scope


@program(inputs=ENDED)
def given_by_a_call(w: Any, x: Tensor) -> Any:
    with _given(w) as scope:
        if x.sum() > 0:
            raise ValueError("swallowed")
        x = x + 1
    return x, scope is w.scope, w.seen, scope.left


def _helps(w: Any, x: Tensor) -> Tensor:
    with w.scope:
        if x.sum() > 0:
            raise ValueError("swallowed")
        x = x * 2
    return x + 1


@program(inputs=ENDED)
def in_a_helper(w: Any, x: Tensor) -> Any:
    return _helps(w, x), w.scope.left


@program(inputs=ENDED)
def in_a_stack(w: Any, x: Tensor) -> Any:
    with contextlib.ExitStack() as stack:
        scope = stack.enter_context(w.scope)
        if x.sum() > 0:
            raise ValueError("swallowed")
        x = x * 2
    return x, scope is w.scope, scope.left


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 2),), lambda: (vec(4, 2),)])
class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = Layer()

    def forward(self, x: Tensor) -> Any:
        y = x
        with self.layer as inside:
            y = x * self.layer.weight.detach()
            if x.sum() > 0:
                raise ValueError("positive")
            y = y + inside
        return y, self.layer.inside


PROGRAMS = [entered, passes, returned_from_a_block, in_a_loop, twice_and_nested, where_data_decide, inherited]
PROGRAMS += [not_entered, given_by_a_call, in_a_helper, in_a_stack, Model]


@pytest.mark.parametrize("subject", PROGRAMS, ids=lambda one: one.__name__)
def test_as_eager(subject: Any) -> None:
    check_any_graph(subject)


def _with_other_methods() -> Calls:
    class Changing(Scope):
        def __enter__(self) -> int:
            return 1

    given = Changing()

    def change() -> tuple[Any]:
        Changing.__enter__ = lambda self: 2  # type: ignore[method-assign]
        return (given,)

    def function(x: Tensor, scope: Any) -> Tensor:
        with scope as number:
            x = x + number
        return x if x.sum() > 0 else -x

    return function, [lambda: (given,), change]


def test_methods_that_change_between_calls() -> None:
    assert differing_calls(_with_other_methods) == []


def entering(x: Tensor, scope: Any) -> Tensor:
    with scope:
        return x + 1


def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, entered_objects)
    with pytest.raises(Exception, match="context manager"):
        compiled(entering)(torch.ones(1), Scope())


def test_left_alone() -> None:
    given = Scope()
    with pytest.raises(torch._dynamo.exc.Unsupported, match="context manager"):
        torch.compile(entering, fullgraph=True, backend="eager")(torch.ones(1), given)
    given.__enter__ = lambda: 3  # type: ignore[method-assign]
    with pytest.raises(Exception, match="context manager"):
        compiled(entering)(torch.ones(1), given)
