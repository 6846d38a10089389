"""types.SimpleNamespace: made, written to, derived from and given back, as eager."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest
from torch import Tensor

from autograph_torch.capture import namespaces
from tests.harness import check, check_any_graph, compiled, leave_out, program, torch_before, vec

TWO = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]


@program(inputs=TWO)
def made_and_written_in_branches(x: Tensor) -> Any:
    s = SimpleNamespace(x=x, n=0, log=[])
    for k in range(3):
        if s.x.sum() > k:
            s.n += 1
            s.x = s.x - 1
            s.log.append(s.n)
    return s.x, s.n, s.log


@program(
    inputs=[lambda: (SimpleNamespace(x=vec(1, 2), n=1), vec(1)), lambda: (SimpleNamespace(x=vec(1), n=1), vec(-1))]
)
def given(s: Any, x: Tensor) -> Any:
    if x.sum() > 0:
        s.n += 1
        s.y = x * 2
    return s.x + s.n, vars(s)


@program(inputs=TWO)
def state_of_a_while_loop(x: Tensor) -> Any:
    s = SimpleNamespace(t=0.0, y=x, done=False)
    while not s.done:
        s.t += 0.5
        s.y = s.y * 0.5
        s.done = bool(s.y.abs().max() < 0.1)
    return s.t, s.y, s.done


@program(inputs=TWO)
def made_in_a_branch(x: Tensor) -> Any:
    if x.sum() > 0:
        s = SimpleNamespace(v=x + 1, kind="up")
    else:
        s = SimpleNamespace(v=x - 1, kind="down")
    return s.v, s.kind


class Growing(SimpleNamespace):
    def __init__(self, x: Tensor, **more: Any) -> None:
        super().__init__(x=x, steps=0, **more)

    def grow(self) -> None:
        self.steps += 1
        self.x = self.x * 2


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(30, 40),)])
def derived(x: Tensor) -> Any:
    s = Growing(x, tag="a")
    while s.x.sum() < 50:
        s.grow()
    return s.x, s.steps, s.tag, isinstance(s, SimpleNamespace)


@program(inputs=TWO)
def nested(x: Tensor) -> Any:
    s = SimpleNamespace(inner=SimpleNamespace(a=x, n=1.5), rows=[])
    for k in range(2):
        if s.inner.a.sum() > k:
            s.inner.a = s.inner.a - 1
            s.inner.n *= 2
        s.rows.append(SimpleNamespace(k=k, v=s.inner.a))
    return [r.v for r in s.rows], s.inner.n


@program(inputs=TWO)
def names_that_are_missing_or_gone(x: Tensor) -> Any:
    s = SimpleNamespace(a=1, b=x)
    if x.sum() > 0:
        del s.a
    return hasattr(s, "a"), getattr(s, "c", 7), s.b


@program(inputs=TWO)
def a_name_that_it_does_not_have(x: Tensor) -> Any:
    s = SimpleNamespace(a=1)
    if x.sum() > 0:
        return s.b
    return s.a


@program(inputs=TWO)
def positional(x: Tensor) -> Any:
    return SimpleNamespace({"a": 1}).a + x  # for Python before 3.13 an error


PROGRAMS = [
    made_and_written_in_branches,
    given,
    state_of_a_while_loop,
    made_in_a_branch,
    derived,
    nested,
    names_that_are_missing_or_gone,
    a_name_that_it_does_not_have,
    positional,
]


@pytest.mark.parametrize("found", PROGRAMS, ids=lambda one: one.__name__)
def test_as_eager(found: Any) -> None:
    check_any_graph(found)


def given_back(x: Tensor) -> Any:
    s = SimpleNamespace(a=x)
    s.b = 3 if x.sum() > 0 else 4
    return s


@pytest.mark.parametrize("sign", [1, -1])
def test_given_back(sign: int) -> None:
    x = sign * vec(1, 2)
    expected, actual = given_back(x), compiled(given_back)(x)
    assert type(actual) is SimpleNamespace
    assert list(vars(actual)) == ["a", "b"]
    assert (actual.a is x, type(actual.b), actual.b) == (True, int, expected.b)


def copied(x: Tensor) -> Any:
    s = SimpleNamespace(x=x, n=[1])
    t = copy.copy(s)
    if x.sum() > 0:
        t.x = x + 1
        t.n.append(2)
    return s.x, t.x, s.n, t.n


@torch_before("2.13", "copy.copy of objects cannot be followed")
def test_a_copy() -> None:
    x = vec(1, 2)
    s, t, n, m = compiled(copied)(x)
    assert (s.tolist(), t.tolist(), n, m) == ([1, 2], [2, 3], [1, 2], [1, 2])
    assert n is m


def test_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile knows them."""
    leave_out(monkeypatch, namespaces.namespaces)
    assert check(made_and_written_in_branches.__program__, "any graph").kind == "refused"  # type: ignore[attr-defined]
