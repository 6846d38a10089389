"""A test that binds a name in a later operand becomes tests inside of each other.

    if (a := f(x)) > 0 and (b := g(x)) > 0:      if (a := f(x)) > 0:
        y = a + b                                    if (b := g(x)) > 0:
                                                         y = a + b

What Python leaves out is left out: the later operand is evaluated, and its name bound, on one path only. The block of
the path that both tests lead to stands there twice, and so it must not be long.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import SCOPES, binds
from autograph_torch.source.nodes import derive, place, rebuild, walk

_LONGEST = 8  # statements that may stand there twice


def nest_tests(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite every `if` on a tensor whose test binds a name in a later operand."""

    def rewrite(node: gast.AST) -> gast.AST:
        if isinstance(node, SCOPES) or facts.is_skipped(node):
            return node
        node = rebuild(node, rewrite)
        return _nested(node) if isinstance(node, gast.If) and facts.is_site(node) else node

    return rebuild(function, rewrite)


def _nested(node: gast.If) -> gast.If:
    test = node.test
    late = next((k for k, one in enumerate(getattr(test, "values", [])) if k and binds(one)), 0)
    if not isinstance(test, gast.BoolOp) or not late:
        return node
    both = isinstance(test.op, gast.And)
    twice = node.orelse if both else node.body
    if sum(isinstance(one, gast.stmt) for part in twice for one in walk(part)) > _LONGEST:
        return node
    first, rest = (_joined(test, part) for part in (test.values[:late], test.values[late:]))
    inner = _nested(place(gast.If(test=rest, body=node.body, orelse=node.orelse), node))
    return derive(node, test=first, **({"body": [inner]} if both else {"orelse": [inner]}))


def _joined(test: gast.BoolOp, values: list[gast.expr]) -> gast.expr:
    return values[0] if len(values) == 1 else derive(test, values=values)
