"""Which lists become rows of tensors: a golden text, where an element is known to be there, and what is left alone."""

from __future__ import annotations

import ast
from collections import deque
from types import CodeType

import gast
import pytest
import torch

from autograph_torch.analysis.told import Told
from autograph_torch.live import convert_code
from tests.harness import from_text
from tests.passes.test_comprehensions import as_unparsed

BEFORE = """
def p(x):
    stack, n = [x], 0
    while stack:
        y = stack.pop()
        if y > 1:
            stack.append(y - 1)
            stack[-1] = stack[-1] * 2
        n = n + 1
    return len(stack), sum(stack)
"""
AFTER = """
def p(x):
    stack, n = (ag.bounded('stack of p, line 2', [x]), 0)

    def body(stack, n):
        stack, popped = ag.popped('stack of p, line 2', stack, -1, True)
        y = popped

        def then(stack, y):
            stack = ag.pushed('stack of p, line 2', stack, y - 1)
            stack = ag.put('stack of p, line 2', stack, -1, ag.item_of('stack of p, line 2', stack, -1, True) * 2, True)
            return stack
        stack = ag.cond(y > 1, then, lambda stack, y: stack, (stack,), reads=(y,))
        n = n + 1
        return (stack, n)
    stack, n = ag.while_loop(lambda stack, n: ag.height(stack) > 0, body, (stack, n))
    return (ag.height(stack), ag.total(ag.as_grown('stack of p, line 2', stack)))
"""


def converted(text: str) -> str:
    """The text of a function whose lists change in its loops."""
    told = Told(bounded=frozenset(k for k, line in enumerate(text.splitlines(), 1) if "while" in line))
    function = from_text(text, text.split("(")[0].split()[-1], f"<bounded {hash(text)}>", {"deque": deque})
    code: CodeType = function.__code__
    rewritten = convert_code(code, {"torch": torch, "deque": deque}, {}, told=told).rewritten
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(rewritten.tree))) if rewritten else text


def test_golden() -> None:
    assert converted(BEFORE) == as_unparsed(AFTER)


IN_LOOP = """
def path(x, t):
    xs = [x]
    while t > 0:
        t = t - 1
        {statement}
    return t
"""


@pytest.mark.parametrize(
    ("statement", "sure"),
    [
        ("y = xs.pop()", False),  # the trip before may have taken the last one
        ("if xs: xs.pop()", True),
        ("if len(xs) > 0: xs.pop()", True),
        ("if len(xs) >= 0: xs.pop()", False),
        ("if len(xs) < 5: xs.pop()", False),
        ("if not xs: continue\n        xs.pop()", True),
        ("if xs and t > 2: xs.pop(0)", True),
        ("if xs or t > 2: xs.pop()", False),
        ("if xs: pass\n        xs.pop()", False),
        ("xs.append(t)\n        xs.pop()", True),
        ("xs.append(t)\n        xs.clear()\n        xs.pop()", False),
        ("xs.append(t)\n        if t > 3: xs.clear()\n        xs.pop()", False),
        ("if not xs: break\n        else: xs.clear()\n        xs.pop()", False),
        ("match t:\n            case 1: xs.append(t)\n        xs.pop()", False),
        ("if t > 3: xs.append(t)\n        xs.pop()", False),
        ("xs = []\n        xs.pop()", False),
        ("xs = [t]\n        xs.pop()", True),
        ("if xs:\n            xs = []\n            xs.pop()", False),
        ("if xs:\n            xs, y = list(), xs[0]\n            xs.pop()", False),
        ("if xs:\n            xs: list = []\n            xs.pop()", False),
        ("if xs:\n            xs = deque()\n            xs.pop(0)", False),
        ("if xs:\n            xs = deque([t])\n            xs.pop(0)", True),
        ("if xs:\n            if t > 2: xs = []\n            xs.pop()", False),
        ("if xs:\n            if t > 2: xs = [t]\n            xs.pop()", True),
        ("if not xs: break\n        for _ in x: xs = []\n        xs.pop()", False),
        ("while xs:\n            if t > 2: xs = []\n            xs.pop()", False),
        ("if not xs: break\n        else: xs = []\n        xs.pop()", False),
        ("for _ in range(2): xs.append(t)\n        xs.pop()", False),
    ],
)
def test_an_element_is_known_to_be_there(statement: str, sure: bool) -> None:
    text = converted(IN_LOOP.format(statement=statement))
    takes = [line for line in text.splitlines() if "ag.popped(" in line]
    assert len(takes) == 1
    assert takes[0].rstrip(" )").endswith("True") == sure


def test_cases_know_nothing_of_each_other() -> None:
    first = "case 1:\n                xs.append(t)\n                t = xs[-1]"
    cases = f"match t:\n            {first}\n            case 2: t = xs[-1]"
    text = converted(IN_LOOP.format(statement=f"if t > 3: xs.pop()\n        {cases}"))
    assert [line.rstrip(" )").endswith("True") for line in text.splitlines() if "ag.item_of(" in line] == [True, False]


def test_a_second_pop_may_find_nothing() -> None:
    text = converted(IN_LOOP.format(statement="if xs: a, b = xs.pop(), xs.pop()"))
    assert [line.rstrip(" )").endswith("True") for line in text.splitlines() if "ag.popped(" in line] == [True, False]


@pytest.mark.parametrize(("before", "sure"), [("y = y * 2", True), ("i = i + 1", False)])
def test_the_position_of_a_loop_is_there(before: str, sure: bool) -> None:
    loop = f"for i, y in enumerate(xs):\n            {before}\n            xs[i] = y"
    text = converted(IN_LOOP.format(statement=loop))
    (put,) = (line for line in text.splitlines() if "ag.put(" in line)
    assert put.rstrip(" )").endswith("True") == sure


@pytest.mark.parametrize(
    "statement",
    [
        "ys = xs; xs.pop()",
        "xs.pop(); f = lambda: xs",
        "xs.pop(); xs.sort()",
        "xs.extend(x)",
        "xs.pop(t)",
        "y = print(t) + xs.pop()",
        "y = t > 0 and xs.pop()",
        "y = [xs.pop() for _ in x]",
        "xs.insert(1, t)",
        "for y in xs: xs.pop()",
        "for i, y in enumerate(xs):\n            xs[i] = y\n            xs = [y]",
        "match 1:\n            case 1: xs.append(t)\n            case _: y = xs.pop()",
    ],
)
def test_left_alone(statement: str) -> None:
    text = IN_LOOP.format(statement=statement)
    assert "ag.bounded" not in converted(text)
