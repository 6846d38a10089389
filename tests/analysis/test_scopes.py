"""Which names code reads, binds and captures, and which jumps leave it."""

from __future__ import annotations

import sys

import pytest

from autograph_torch.analysis import scopes
from autograph_torch.analysis.scopes import Exits
from tests.analysis.reading import block, function

# text -> (names read, names bound), in any order and in order of appearance
NAMES = {
    "x = y": ("y", "x"),
    "x = x + 1": ("x", "x"),
    "x += y": ("x y", "x"),
    "x: int = y": ("y", "x"),
    "x: int": ("", ""),
    "x[i] = y": ("x i y", ""),
    "x[i] += y": ("x i y", ""),
    "x.a = y": ("x y", ""),
    "x.a += y": ("x y", ""),
    "a, (b, *c) = d": ("d", "a b c"),
    "a = b = c": ("c", "a b"),
    "del x": ("x", "x"),
    "del x[i]": ("x i", ""),
    "f(a, *b, k=c, **d)": ("f a b c d", ""),
    "(y := x) + y": ("x y", "y"),
    "f'{a!r:{b}}'": ("a b", ""),
    "import a.b, c as d": ("", "a d"),
    "from a import b, c as d": ("", "b d"),
    "for i, (a, b) in xs: s = i": ("xs i", "i a b s"),
    "for i in xs:\n    a\nelse:\n    b = a": ("xs a", "i b"),
    "while (n := f()) > 0: m = n": ("f n", "n m"),
    "with a as b, c as (d, e): f": ("a c f", "b d e"),
    "if a:\n    b = 1\nelse:\n    c = 2": ("a", "b c"),
    "return x": ("x", ""),
    "assert a, b": ("a b", ""),
    "raise a from b": ("a b", ""),
    "global g\ng = x": ("x", "g"),
}

SCOPES = {
    "def f(a, b=c, *d, e=g, **h): return a + z": ("c g z", "f"),
    "def f(): x = 1; return x": ("", "f"),
    "def f():\n    global x\n    x = 1\n    return x": ("x", "f"),
    "def f():\n    def g(): return y\n    return g": ("y", "f"),
    "def f():\n    y = 1\n    def g(): return y": ("", "f"),
    "def f():\n    y = 1\n    def g():\n        nonlocal y\n        y = z": ("z", "f"),
    "def f(): return f()": ("f", "f"),
    "@d\ndef f(): pass": ("d", "f"),
    "async def f(x): await g(x)": ("g", "f"),
    "g = lambda a, b=c: a + b + d": ("c d", "g"),
    "class A(B, metaclass=M):\n    x = y\n    def m(self): return z": ("B M y z", "A"),
    # The body of a class is no scope for its methods: they read the `x` around the class.
    "class A:\n    x = y\n    def m(self): return x": ("y x", "A"),
    "class A:\n    x = y\n    z = x": ("y", "A"),
    # The first iterable of a comprehension is evaluated outside of it.
    "x = [x * 2 for x in x]": ("x", "x"),
    "[x for y in x for x in y]": ("x", ""),
    "[y for x in xs for y in y]": ("xs", ""),
    "[i * k for i in xs]": ("k xs", ""),
    "[i for i in xs for j in i if j]": ("xs", ""),
    "{k: v for k, v in d.items() if w}": ("d w", ""),
    "{i for i in (j for j in xs)}": ("xs", ""),
    "[y := f(i) for i in xs]": ("f xs", "y"),
    "[last := (n := i) for i in xs]": ("xs", "last n"),
    "any((hit := i) > 3 for i in xs)": ("any xs", "hit"),
    "[[a * b for a in r] for r in m]": ("b m", ""),
    "[(lambda: i + k)() for i in xs]": ("k xs", ""),
}

MATCH = {
    "match x:\n    case [a, *b]: c = a": ("x a", "a b c"),
    "match x:\n    case {'k': a, **b}: pass": ("x", "a b"),
    "match x:\n    case P(a, k=b) as d if e: pass": ("x P e", "a b d"),
    "match x:\n    case 1 | None: pass": ("x", ""),
    "match x:\n    case m.A: pass\n    case _: pass": ("x m", ""),
    "match x:\n    case str() | [*_]: pass": ("x str", ""),
}


@pytest.mark.parametrize("text", [*NAMES, *SCOPES, *MATCH])
def test_names(text: str) -> None:
    reads, binds = {**NAMES, **SCOPES, **MATCH}[text]
    assert scopes.reads(block(text)) == set(reads.split())
    assert sorted(scopes.binds(block(text))) == sorted(binds.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, (b, *c) = d", "a b c"),
        ("c = 1; a = 2; b = 3; a = 4", "c a b"),
        ("for b in xs: a = b", "b a"),
        ("if p:\n    b = 1\nelse:\n    a = 1", "b a"),
    ],
)
def test_binds_keeps_the_order_of_the_text(text: str, expected: str) -> None:
    assert scopes.binds(block(text)) == expected.split()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_type_parameters_do_not_disturb() -> None:
    assert scopes.binds(block("def f[T](x: T) -> T:\n    return y")) == ["f"]
    assert "y" in scopes.reads(block("def f[T](x: T) -> T:\n    return y"))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="except* came with Python 3.11")
def test_exception_groups() -> None:
    text = "try:\n    a = f()\nexcept* E as e:\n    b = e"
    assert scopes.reads(block(text)) == {"f", "E", "e"}
    assert set(scopes.binds(block(text))) >= {"a", "b"}


def test_handlers_bind_their_exception() -> None:
    text = "try:\n    a\nexcept E as e:\n    b = e\nelse:\n    c = 1\nfinally:\n    d = 1"
    assert scopes.reads(block(text)) == {"a", "E", "e"}
    assert set(scopes.binds(block(text))) == {"b", "c", "d", "e"}


def test_outer_declarations() -> None:
    found = scopes.names_of(block("global a, b\nnonlocal c\na = 1"))
    assert list(found.outer) == ["a", "b", "c"]


def test_deletions() -> None:
    assert list(scopes.names_of(block("del a, b[0], c")).deletes) == ["a", "c"]


def test_parameters_in_the_order_of_the_signature() -> None:
    assert scopes.parameters(function("def f(a, /, b, *c, d, **e): pass").args) == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", ""),
        ("def f(a): return a + b", "b"),
        ("g = lambda: x", "x"),
        ("class A:\n    y = z", "z"),
        ("[i + k for i in xs]", ""),
        ("if p:\n    def f(): return b\nelse:\n    h = lambda v: c", "b c"),
        ("def f():\n    def g(): return deep\n    return g", "deep"),
        ("y = map(lambda a: a + y, xs)", "y"),
    ],
)
def test_captured(text: str, expected: str) -> None:
    assert scopes.captured(block(text)) == set(expected.split())


def test_always_live() -> None:
    assert scopes.always_live(block("global g\nf = lambda: x\ny = 1")) == {"g", "x"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", Exits()),
        ("return", Exits(returns=True)),
        ("break", Exits(breaks=True)),
        ("continue", Exits(continues=True)),
        ("if a:\n    return\nelse:\n    break", Exits(returns=True, breaks=True)),
        ("for i in x: break", Exits()),
        ("while a:\n    continue\nelse:\n    break", Exits(breaks=True)),
        ("for i in x:\n    if i: return", Exits(returns=True)),
        ("with a:\n    continue", Exits(continues=True)),
        ("try:\n    x\nexcept E:\n    return\nfinally:\n    break", Exits(returns=True, breaks=True)),
        ("match x:\n    case 1: break\n    case _: return", Exits(returns=True, breaks=True)),
        ("def f(): return", Exits()),
        ("class A:\n    def f(self): return", Exits()),
        ("f = lambda: 1", Exits()),
        ("raise E", Exits()),
    ],
)
def test_exits(text: str, expected: Exits) -> None:
    found = scopes.exits(block(text))
    assert found == expected
    assert bool(found) == (expected != Exits())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", True),
        ("return", False),
        ("raise E", False),
        ("x = 1\nbreak", False),
        ("if a:\n    return", True),
        ("if a:\n    return\nelse:\n    raise E", False),
        ("if a:\n    return\nelif b:\n    return\nelse:\n    x", True),
        ("while True: x", False),
        ("while True:\n    if a: break", True),
        ("while a: return", True),
        ("for i in x: return", True),
        ("try:\n    return\nexcept E:\n    x", True),
        ("try:\n    return\nexcept E:\n    raise", False),
        ("try:\n    x\nfinally:\n    return", False),
        ("try:\n    x\nexcept E:\n    return\nelse:\n    return", False),
        ("match x:\n    case 1: return", True),
    ],
)
def test_completes(text: str, expected: bool) -> None:
    """Whether control may reach the end; True is allowed where only Python can know."""
    assert scopes.completes(block(text)) is expected
