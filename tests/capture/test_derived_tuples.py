"""Tuples of classes of their own: made once, shown as their class shows them, with the elements and attributes."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import pytest
from torch import Tensor

from autograph_torch import CaptureError, autograph
from tests.harness import check_any_graph, compiled, program, torch_before, vec

pytestmark = torch_before("2.13", "objects of such classes are refused")

BOTH = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, -1),)]
Base: Any = namedtuple("Base", "a b")


class Next(Base):
    def __new__(cls, a: Any, b: Any) -> Any:
        return super().__new__(cls, a + 1, b)


class Double(Base):
    def __new__(cls, a: Any) -> Any:
        return super().__new__(cls, a, a * 2)


class Tagged(Base):
    def __new__(cls, a: Any, b: Any) -> Any:
        made = super().__new__(cls, a, b)
        made.tag = "new"
        return made

    def __repr__(self) -> str:
        return f"{self.a} {self.tag}"


class Fields(tuple[Any, ...]):
    _fields = ("x",)

    def __new__(cls, x: Any) -> Any:
        return tuple.__new__(cls, (x,))


class Several(tuple[Any, ...]):
    def __new__(cls, *elements: Any) -> Any:
        return tuple.__new__(cls, elements)


class Point(tuple[Any, ...]):
    def __repr__(self) -> str:
        return f"Point {self[0]}"


class Short(NamedTuple):
    a: float
    b: int

    def __str__(self) -> str:
        return f"<{self.a:.1f}>"

    def __format__(self, spec: str) -> str:
        return f"{spec} {self.b}"


@program(inputs=BOTH)
def given_by_branches(x: Tensor) -> Any:
    p, q, f = Next(x, 0), Next._make([x, x]), Fields(x)
    if x.sum() > 0:
        p, q, f = Next(x * 2, 1), q._replace(a=x * 3), Fields(f[0] * 2)
    return p, q.a, f[0], p._replace(b=3)


@program(inputs=BOTH)
def carried(x: Tensor) -> Any:
    p, n = Next(x, 0), 0
    while n < 3 and p.a.sum() < 20:
        p, n = Next(p.a.abs(), p.b), n + 1
    return p


@program(inputs=BOTH)
def in_a_container(x: Tensor) -> Any:
    found = [Next(x, 0)]
    while found[0].a.sum() < 20:
        found[0] = Next(found[0].a.abs(), 1)
    return found


@program(inputs=BOTH)
def with_attributes(x: Tensor) -> Any:
    p = Tagged(x, 1)
    if x.sum() > 0:
        p = Tagged(x * 2, 2)
        p.tag = "positive"
    return p.a, getattr(p, "tag", "none")


@program(inputs=BOTH)
def shown(x: Tensor) -> Tensor:
    v = x[0].item()
    print(Next(v, 2), Double(v), Fields(v), Several(v, 2), Next(v, 1)._replace(a=v))
    print(f"{Next(v, 2)} {Double(v)!r}", [Double(v)])
    if x.sum() > 0:
        print(Double(v), x.shape, x.max(0))
    return x


@program(inputs=BOTH)
def shown_by_themselves(x: Tensor) -> Tensor:
    v = x[0].item()
    print(Point((v, 1)), Tagged(v, 1), Short(v, 1), sep="|")
    print([Point((v, 1)), {"t": Tagged(v, 1)}, (Short(v, 1),)])
    print(f"{Point((v, 1))} {Short(v, 1):spec} {Short(v, 1)!s}", "%s and %s" % (Point((v,)), v))  # noqa: UP031
    if x.sum() > 0:
        print("positive", Point((v, 1)))
    return x


@program(inputs=BOTH)
def texts(x: Tensor) -> Any:
    v = x[0].item()
    return str(Several(v, 2)), repr(Base(v, 2)), f"{Tagged(v, 1)} {Double(v)}", repr(Tagged(1, 2)), str(Several(1, 2))


@program(inputs=BOTH, factory=True)
def made_once() -> Any:
    made: list[str] = []

    class Made(Base):
        def __new__(cls, *elements: Any) -> Any:
            made.append("new")
            return super().__new__(cls, *elements)

        def __init__(self, *elements: Any) -> None:
            made.append("init")

    def run(x: Tensor) -> Any:
        p = Made(x, 1)
        if x.sum() > 0:
            p = Made(x * 2, 2)
        print(p.b, Made(x[0].item(), 2))
        return len(made)

    return run


@program(inputs=BOTH, factory=True)
def shown_when_they_are() -> Any:
    texts_made: list[int] = []

    class Counting(Base):
        def __repr__(self) -> str:
            texts_made.append(1)
            return f"{self.a}, text {len(texts_made)}"

    class Counted(tuple[Any, ...]):
        def __str__(self) -> str:
            texts_made.append(1)
            return f"{self[0]}, text {len(texts_made)}"

    def run(x: Tensor) -> Any:
        v = x[0].item()
        print(Counting(v, 1), f"{Counted((v,))}", Counted((v,)))
        count = len(texts_made)
        if x.sum() > 0:
            print(Counting(v, 1))
        return count, len(texts_made)

    return run


@pytest.mark.parametrize(
    "subject",
    [
        given_by_branches,
        carried,
        in_a_container,
        with_attributes,
        made_once,
        shown,
        shown_by_themselves,
        shown_when_they_are,
        texts,
    ],
)
def test_as_eager(subject: Any) -> None:
    check_any_graph(subject)


def test_texts_in_a_list_that_count_are_refused() -> None:
    class Counting(tuple[Any, ...]):
        def __repr__(self) -> str:
            made.append(1)
            return f"text {len(made)}"

    made: list[int] = []

    def run(x: Tensor) -> Tensor:
        print([Counting((x[0].item(),))])
        return x

    with pytest.raises(CaptureError, match="AG324 a Counting, whose text its own code makes"):
        compiled(run)(vec(1, 2))


def test_effects_behind_the_graph_make_none(capsys: pytest.CaptureFixture[str]) -> None:
    make = made_once.__program__.make
    eager, decorated = make(), autograph(make())
    for x in (vec(1, 2), vec(-1, -2), vec(1, 2)):
        assert decorated(x) == eager(x)
        first, second = capsys.readouterr().out.splitlines()
        assert first == second
