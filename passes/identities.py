"""A tensor is copied to another unless it is that very one: where it is, the copy changes nothing.

    while ...:                             if ag.unlike(x, y):
        y = torch.where(p, f(x), y)            x.copy_(y)
    if x is not y:
        x.copy_(y)

Only data tell whether a loop or branch has handed `x` through, and what it gives is a copy (capture/identities.py).
Here the question need no answer. A trace has shown that it stops at one.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import SCOPES
from autograph_torch.source.nodes import derive, rebuild, replace
from autograph_torch.source.templates import runtime_call


def ask_before_copies(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite the tests of such copies, in a function whose trace has failed."""
    if not facts.told.splits:
        return function

    def rewrite(node: gast.AST) -> gast.AST:
        if isinstance(node, SCOPES):
            return node
        node = rebuild(node, rewrite)
        if isinstance(node, gast.If) and _only_copies(node):
            return derive(node, test=replace(node.test, runtime_call("unlike", node.test.left, *node.test.comparators)))
        return node

    return rebuild(function, rewrite)


def _only_copies(node: gast.If) -> bool:
    """Whether it is `if x is not y: x.copy_(y)`, of names."""
    test = node.test
    if not isinstance(test, gast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], gast.IsNot):
        return False
    if len(node.body) != 1 or node.orelse:  # a jump to handlers has left its branch empty
        return False
    body = node.body[0]
    if not isinstance(body, gast.Expr) or not isinstance(body.value, gast.Call):
        return False
    copies = body.value
    if not isinstance(copies.func, gast.Attribute) or copies.func.attr != "copy_" or copies.keywords:
        return False
    given = [copies.func.value, *copies.args]
    asked = [test.left, *test.comparators]
    named = all(isinstance(one, gast.Name) for one in [*given, *asked])
    return named and len(given) == 2 and {one.id for one in given} == {one.id for one in asked}
