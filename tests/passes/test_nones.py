"""Which names become those that a flag says are None: a golden text, and uses that leave a name as it is."""

from __future__ import annotations

import ast
from types import CodeType

import gast
import pytest
import torch

from autograph_torch.analysis.told import Told
from autograph_torch.live import convert_code
from tests.harness import from_text
from tests.passes.test_comprehensions import as_unparsed

BEFORE = """
def path(x):
    best, n = (None, 0)
    for y in x:
        if y > 1:
            best = y
    other = [best, best is None]
    if best is not None:
        n = best
    return (best, n, best + 1)
"""
AFTER = """
def path(x):
    best, n = (ag.nothing('best'), 0)
    for y in x:
        best = ag.cond(y > 1, lambda y, best: y, lambda y, best: best, reads=(y, best))
    other = [ag.known(best), ag.is_nothing(best, True)]
    n = ag.cond(ag.not_(ag.is_nothing(best)), lambda best, n: ag.some(best), lambda best, n: n, reads=(best, n))
    return (ag.optional(best), n, ag.known(best) + 1)
"""
OTHERWISE = """
def path(x):
    {first}
    for y in x:
        if y > 0:
            best = y
    {use}
    return best
"""


def text_of(source: str, line: int) -> str:
    """The text of a function that leaves a name as None on some paths through the statement on this line."""
    code: CodeType = from_text(source, "path", f"<nones {hash(source)}>").__code__
    rewritten = convert_code(code, {"torch": torch}, {}, told=Told(nones=frozenset({line}))).rewritten
    assert rewritten is not None
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(rewritten.tree)))


def test_text() -> None:
    assert text_of(BEFORE, 5) == as_unparsed(AFTER)


@pytest.mark.parametrize("use", ["del best", "best += 1", "best[0] = 1", "best.add_(1)", "f = lambda: best"])
def test_other_uses(use: str) -> None:
    assert "nothing" in text_of(OTHERWISE.format(first="best = None", use="pass"), 5)
    assert "nothing" not in text_of(OTHERWISE.format(first="best = None", use=use), 5)


@pytest.mark.parametrize("first", ["global best", "best = x.sum()", "best = other = None", "x = None"])
def test_other_beginnings(first: str) -> None:
    assert "nothing" not in text_of(OTHERWISE.format(first=first, use="pass"), 5)


def test_outside_of_a_loop() -> None:
    text = "def path(x):\n    best = None\n    if x.sum() > 0:\n        best = x\n    return best"
    assert "nothing" not in text_of(text, 3)
