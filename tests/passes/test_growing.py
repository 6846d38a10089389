"""Which lists become those that the runtime can count: a golden text, and uses that leave a list as it is."""

from __future__ import annotations

import ast
import textwrap
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
    xs = [x]
    while x > 1:
        x = x / 2
        xs.append(x)
    for k, y in enumerate(xs):
        x = x + y * k
    if not xs:
        return xs[-1]
    return torch.stack(xs), [xs]
"""
AFTER = """
def path(x):
    xs = [x]
    xs = ag.growing_list(xs)

    def body(x, xs):
        x = x / 2
        xs.append(x)
        return (x, xs)
    x, xs = ag.while_loop(lambda x, xs: x > 1, body, (x,), mutated=(xs,))

    def body_2(item, x):
        k, y = item
        x = x + y * k
        return (x,)
    x, = ag.for_loop(ag.enumerate(ag.elements_of(xs)), body_2, (x,))
    return ag.cond(ag.not_(ag.length(xs) > 0), lambda: ag.element(xs, -1), lambda: (ag.stacked(xs), [ag.listed(xs)]))
"""
LONGER = """
def path(x):
    xs, n = [], 0
    while x > 1:
        x = x / 2
        {addition}
    return max(xs), [y * n for y in xs], torch.tensor(xs)
"""
OTHERWISE = """
def path(x):
    xs = [x]
    while x > 1:
        x = x / 2
        xs.append(x)
    return {use}
"""


def text_of(source: str, loop: int) -> str:
    """The text of a function whose list grows in the loop on this line."""
    code: CodeType = from_text(textwrap.dedent(source), "path", f"<growing {hash(source)}>").__code__
    rewritten = convert_code(code, {"torch": torch}, {}, told=Told(growing=frozenset({loop}))).rewritten
    assert rewritten is not None
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(rewritten.tree)))


def test_text() -> None:
    assert text_of(BEFORE, 4) == as_unparsed(AFTER)
    assert text_of(BEFORE, 6) == as_unparsed(AFTER)  # a line in the loop


@pytest.mark.parametrize("addition", ["xs += [x, xs[-1]]", "xs = xs + [x, xs[-1]]", "xs.extend([x, xs[-1]])"])
def test_longer_lists(addition: str) -> None:
    text = text_of(LONGER.format(addition=addition), 4)
    assert "        xs.extend([x, ag.element(xs, -1)])\n" in text
    assert "ag.largest(xs), ag.listed(ag.mapped(xs, lambda y: y * n)), ag.tensor_of(xs)" in text


def test_another_list_while_it_is_iterated() -> None:
    text = "def path(xs, x):\n    xs = [x]\n    for y in xs:\n        xs = xs + [y * x]\n    return xs\n"
    assert "growing_list" not in text_of(text.replace("path(xs, x)", "path(x)"), 3)


def test_a_known_number_of_trips() -> None:
    lines = "xs = []", "for i, y in enumerate(x):", "    if y > i:", "        xs.append(y)", "return xs"
    text = text_of("def path(x):\n" + textwrap.indent("\n".join(lines), "    "), 4)
    assert "ag.for_loop(ag.rolled(ag.enumerate(x)), body, (), mutated=(xs,))" in text
    inner = "def path(x):\n    for y in x:\n        while y > 1:\n            y = y / 2\n    return y"
    assert "rolled" not in text_of(inner, 3)  # the loop inside is the one


def test_another_line() -> None:
    assert "growing_list" not in text_of(BEFORE, 9)


@pytest.mark.parametrize(
    "use",
    [
        "sum(xs, x)",
        "max(xs, key=f)",
        "torch.tensor(xs, dtype=d)",
        "helper(xs)",
        "[x] + xs",
        "xs[k]",
        "xs[1:]",
        "torch.stack(xs, out=x)",
        "torch.stack(xs, k)",
        "lambda: xs",
        "[y for y in xs if y > 1]",
        "[y for y in xs for z in y]",
        "[len(xs) for y in xs]",
        "sorted([y for y in xs])",
        "xs.pop()",
        "xs.append(x)",
    ],
)
def test_other_uses(use: str) -> None:
    assert "growing_list" not in text_of(OTHERWISE.format(use=use), 4)
