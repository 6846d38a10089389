"""Comprehensions on the lines that a trace has shown: the loops that they become, before other passes see them."""

from __future__ import annotations

import ast
import textwrap

import gast
import pytest

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Kinds, imports_of
from autograph_torch.analysis.told import Told
from autograph_torch.passes.comprehensions import unroll_filters

TEXT = """
def path(x, ys, i):
    {statement}
    return x
"""


def as_unparsed(text: str) -> str:
    """The text as `ast.unparse` of this Python writes it (`(x, y) = ...` and `lambda :` up to Python 3.10)."""
    return ast.unparse(ast.parse(text))


def text_of(statement: str) -> str:
    """The statement after the pass."""
    module = ast.parse(TEXT.format(statement=statement))
    function = gast.ast_to_gast(module).body[0]
    kinds = Kinds(imports_of([module]), {}, {}, True)
    kinds.infer(function.body)
    told = Told(splits=frozenset({3}))
    facts = Facts(function, kinds, "cell", ("", "", statement, ""), assume_unknown=True, told=told)
    changed = unroll_filters(function, facts)
    body = gast.gast_to_ast(gast.Module(body=changed.body[:-1], type_ignores=[]))
    return ast.unparse(ast.fix_missing_locations(body))


@pytest.mark.parametrize(
    ("statement", "becomes"),
    [
        (
            "x = list(filter(lambda y: y > i, ys))",
            """
            kept = []
            for each in ys:
                if each > i:
                    kept.append(each)
            x = list(kept)
            """,
        ),
        (
            "for y in filter(f, ys): x = y",
            """
            for each in ys:
                if f(each):
                    y = each
                    x = y
            """,
        ),
        ("for y in filter(f, ys): f = y", "for y in filter(f, ys):\n    f = y"),
        ("x = list(filter(lambda y, z=2: y > z, ys))", "x = list(filter(lambda y, z=2: y > z, ys))"),
        ("x = list(filter(lambda y: (lambda y: y), ys))", "x = list(filter(lambda y: lambda y: y, ys))"),
        (
            "x = f(g(i), [y for y in ys if y > 0])",
            """
            first = g(i)
            kept = []
            for y in ys:
                if y > 0:
                    kept.append(y)
            x = f(first, kept)
            """,
        ),
        (
            "x = [i for i in ys if i > 0 if i < 3]",
            """
            x = []
            for i_2 in ys:
                if i_2 > 0 and i_2 < 3:
                    x.append(i_2)
            """,
        ),
        (
            "x = [a * b for a in ys for b in a if b > 0]",
            """
            x = []
            for a in ys:
                for b in a:
                    if b > 0:
                        x.append(a * b)
            """,
        ),
        (
            "x = {k: g(v) for k, v in ys if v > 0}",
            """
            x = {}
            for k, v in ys:
                if v > 0:
                    x[k] = g(v)
            """,
        ),
        (
            "x = {h(v): x for v in ys if g(v, x)}",
            """
            kept = {}
            for v in ys:
                if g(v, x):
                    kept[h(v)] = x
            x = kept
            """,
        ),
        (
            "x = {h(v): g(v) for v in ys if v > 0}",
            """
            x = {}
            for v in ys:
                if v > 0:
                    x.update({h(v): g(v)})
            """,
        ),
        (
            "x = f([y for y in ys if y > 0]) if i else ys",
            """
            if i:
                kept = []
                for y in ys:
                    if y > 0:
                        kept.append(y)
                x = f(kept)
            else:
                x = ys
            """,
        ),
        (
            "x = f(OUTER, i, [y for y in ys if y > 0])",
            """
            first = OUTER
            kept = []
            for y in ys:
                if y > 0:
                    kept.append(y)
            x = f(first, i, kept)
            """,
        ),
        (
            "x = i + max(y for y in ys if y > 0)",
            """
            kept = []
            for y in ys:
                if y > 0:
                    kept.append(y)
            x = i + max(kept)
            """,
        ),
        (
            "x = [f(y) for y in ys]",
            """
            x = []
            for y in ys:
                found = ag.opened(f(y))
                if ag.is_first(found):
                    value = ag.first(found)
                else:
                    others = ag.others(found)
                    if ag.is_first(others):
                        value = ag.first(others)
                    else:
                        value = ag.last(others)
                x.append(value)
            """,
        ),
    ],
)
def test_text(statement: str, becomes: str) -> None:
    assert text_of(statement) == as_unparsed(textwrap.dedent(becomes))


@pytest.mark.parametrize(
    "statement",
    [
        "x = [y + 1 for y in ys]",
        "x = [y.clone() for y in ys]",
        "x = [lambda: y for y in ys if y > 0]",
        "x = [[y for y in y] for y in ys if y > 0]",
        "x = [(z := y) for y in ys if y > 0]",
        "x = i and [y for y in ys if y > 0]",
        "x = f((y for y in ys if y > 0))",
        "x[i] += [y for y in ys if y > 0]",
    ],
)
def test_what_stays(statement: str) -> None:
    assert text_of(statement) == as_unparsed(statement)


def test_a_name_that_a_call_may_bind_anew_is_read_before_the_value() -> None:
    statement = "x += [f(y) for y in ys if y > 0]"
    assert text_of(f"{statement}; g = lambda: x") == as_unparsed(f"{statement}; g = lambda: x")
    assert "x += kept" in text_of(statement)
