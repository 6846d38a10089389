"""Which names may still be read, and which are surely bound, at a point of a function.

The point is a line `HERE` of the text: the statement in its place is not part of the function.
"""

from __future__ import annotations

import gast
import pytest

from autograph_torch.analysis.liveness import EMPTY, Targets, bound_after, live_before, loop_head
from tests.analysis.reading import block

AFTER = frozenset({"out"})


def live(text: str, after: str = "out") -> set[str]:
    return set(live_before(block(text), frozenset(after.split())))


def bound(text: str, before: str = "") -> set[str]:
    return set(bound_after(block(text), frozenset(before.split())))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "out"),
        ("x = a", "a out"),
        ("out = a", "a"),
        ("out += a", "a out"),
        ("out = out + 1", "out"),
        ("out[0] = a", "a out"),
        ("out.x = a", "a out"),
        ("a = 1\nout = a", ""),
        ("out = a\na = 1", "a"),
        ("x, out = a", "a"),
        ("x: int = a", "a out"),
        ("out: int", "out"),
        ("del out", "out"),
        ("import out", ""),
        ("(out := a)", "a"),
        ("def out(): return a", "a"),
        ("def f(): return a\nout = 1", "a"),
        ("class out:\n    x = a", "a"),
        ("f = lambda v: v + a", "a out"),
        ("xs = [v + a for v in b]", "a b out"),
        ("xs = [(out := v) for v in b]", "b out"),  # `b` may be empty
        ("a and (out := b)", "a b out"),  # `a` may be false
        ("x = a if p else (out := b)", "a b p out"),
        ("assert a, b", "a b out"),
    ],
)
def test_one_statement_after_another(text: str, expected: str) -> None:
    assert live(text) == set(expected.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if p:\n    out = a\nelse:\n    out = b", "p a b"),
        ("if p:\n    out = a", "p a out"),
        ("if p:\n    x = a\nout = x", "p a x"),
        ("if p:\n    x = a\nelse:\n    x = b\nout = x", "p a b"),
        ("if (q := p):\n    out = q\nelse:\n    out = 1", "p"),
        ("if a and (out := b):\n    pass", "a b out"),
        ("if p:\n    return a\nout = b", "p a b"),
        ("if p:\n    raise E(a)\nout = b", "p E a b"),
        ("if p:\n    return\nelse:\n    raise", "p"),
        ("return a\nout = b", "a"),
    ],
)
def test_branches_and_returns(text: str, expected: str) -> None:
    assert live(text) == set(expected.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("while p:\n    out = a", "p a out"),
        ("while p:\n    x = y\n    y = a", "p y a out"),
        ("while p:\n    x = a\n    out = x", "p a out"),
        ("while p:\n    t = x\n    x = t + 1", "p x out"),
        ("while p:\n    out = a\nelse:\n    out = b", "p a b"),
        ("while p:\n    break\nelse:\n    out = b", "p b out"),
        ("while p:\n    if q:\n        break\n    out = a", "p q a out"),
        ("while p:\n    if q:\n        continue\n    y = x\n    x = a", "p q x a out"),
        ("while (n := a):\n    out = n", "a out"),
        ("for i in a:\n    out = i", "a out"),
        ("for i in a:\n    y = x\n    x = i", "a x out"),
        ("for out in a:\n    pass", "a out"),
        ("for i in a:\n    return i\nout = b", "a b"),
        ("for i in a:\n    for j in i:\n        if j:\n            break\n        x = y\n    y = x", "a x y out"),
    ],
)
def test_loops(text: str, expected: str) -> None:
    """What a trip leaves for the next one is live at the head."""
    assert live(text) == set(expected.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("with a as b:\n    out = b", "a"),
        ("with a as b, b as c:\n    out = c", "a"),
        ("with a as b[i]:\n    pass", "a b i out"),
        ("try:\n    out = a\nfinally:\n    b", "a b out"),
        ("try:\n    x = a\n    y = f()\nexcept E:\n    out = x", "a f E x out"),
        ("try:\n    x = a\n    out = f()\nexcept E as e:\n    out = e", "a f E"),
        ("try:\n    x = a\nexcept E:\n    out = x\nelse:\n    out = x", "a E x"),
        ("try:\n    return a\nfinally:\n    f(b)", "a f b"),
        ("match a:\n    case 1: out = b\n    case _: out = c", "a b c"),
    ],
)
def test_other_blocks(text: str, expected: str) -> None:
    """More may be live than must be, never less."""
    found = live(text)
    assert found >= set(expected.split())
    assert found <= set(expected.split()) | {"out"}


def test_what_was_there_before_a_block_that_swallows_exceptions() -> None:
    assert live("with a:\n    f()\n    out = b") == {"a", "f", "b", "out"}
    assert live("with a(b) as c, torch.no_grad():\n    out = c") == {"a", "b", "torch", "out"}
    assert live("with torch.autocast(a):\n    out = b") == {"a", "b", "torch"}


def test_jumps_lead_to_their_targets() -> None:
    targets = Targets(on_break=frozenset("b"), on_continue=frozenset("c"), on_raise=EMPTY)
    text = "if p:\n    break\nelif q:\n    continue\nout = 1"
    assert live_before(block(text), AFTER, targets) == {"p", "q", "b", "c"}


def test_a_handler_may_be_entered_at_any_statement() -> None:
    targets = Targets(on_raise=frozenset("h"))
    assert live_before(block("h = 1\nout = f()"), AFTER, targets) == {"f", "h"}


def test_loop_head() -> None:
    (loop,) = block("while p(x):\n    y = x\n    if q:\n        break\n    x = y + a")
    assert isinstance(loop, gast.While)
    assert loop_head(loop, AFTER) == {"p", "x", "q", "a", "out"}
    (loop,) = block("for i, j in xs:\n    y = i + y\nelse:\n    z")
    assert isinstance(loop, gast.For)
    assert loop_head(loop, AFTER) == {"y", "z", "out"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", "x"),
        ("x: int", ""),
        ("x: int = 1", "x"),
        ("x, (y, *z) = a", "x y z"),
        ("x = 1\ndel x", ""),
        ("import a.b as c, d.e", "c d"),
        ("def f(): x = 1", "f"),
        ("class A: x = 1", "A"),
        ("f(y := 1)", "y"),
        ("if p:\n    x = 1", ""),
        ("if p:\n    x = y = 1\nelse:\n    x = 2", "x"),
        ("if p:\n    x = 1\nelse:\n    return", "x"),
        ("if (q := p):\n    pass", "q"),
        ("while (q := p):\n    x = 1", "q"),
        ("for i in a:\n    x = 1", ""),
        ("for i in (b := a):\n    x = 1", "b"),
        ("with a as b:\n    x = 1", "b x"),
        ("try:\n    x = 1\nexcept E:\n    pass", ""),
        ("try:\n    x = 1\nexcept E:\n    x = 2", "x"),
        ("try:\n    x = 1\nexcept E:\n    raise", "x"),
        ("try:\n    x = 1\nexcept E as e:\n    x = 2\nelse:\n    y = 1\nfinally:\n    z = 1", "x z"),
        ("match a:\n    case 1: x = 1", ""),
        ("[x := 1 for i in a]", ""),
        ("a or (x := 1)", ""),
    ],
)
def test_surely_bound(text: str, expected: str) -> None:
    """`x := ...` where Python may not come to it binds nothing for sure."""
    assert bound(text) == set(expected.split())


def test_bound_before_stays_bound() -> None:
    assert bound("if p:\n    x = 1\nfor i in y:\n    z = 1", "a z") == {"a", "z"}
