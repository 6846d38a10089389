"""A statement that is told apart: what is evaluated before the choice keeps its place."""

from __future__ import annotations

import ast
from dataclasses import replace

import gast
import pytest

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Imports, Kinds
from autograph_torch.analysis.told import UNTOLD
from autograph_torch.passes.splits import make_room

INDEX = """
d[f(), 'p' if x.sum() > 2 else 'n', g()] = h()
# becomes
first_2 = h()
first = f()
if x.sum() > 2:
    d[first, 'p', g()] = first_2
else:
    d[first, 'n', g()] = first_2
"""
IN_PLACE = """
d['p' if x.sum() > 2 else 'n'] += f()
# becomes
if x.sum() > 2:
    d['p'] += f()
else:
    d['n'] += f()
"""
METHOD = """
d.setdefault('p' if x.sum() > 2 else 'n', []).append(x)
# becomes
if x.sum() > 2:
    d.setdefault('p', []).append(x)
else:
    d.setdefault('n', []).append(x)
"""


@pytest.mark.parametrize("case", [INDEX, IN_PLACE, METHOD])
def test_choices_apart(case: str) -> None:
    before, after = (part.strip().splitlines() for part in case.split("# becomes"))
    text = "\n    ".join(["def function(x):", "d = {}", *before, "return d"])
    function = gast.parse(text).body[0]
    kinds = Kinds(Imports(), {}, {}, True)
    kinds.infer(function.body)
    told = replace(UNTOLD, splits=frozenset({3}))
    facts = Facts(function, kinds, "file", tuple(text.splitlines()), assume_unknown=True, told=told)
    found = ast.unparse(gast.gast_to_ast(make_room(function, facts)))
    assert found == "\n    ".join(["def function(x):", "d = {}", *after, "return d"])
