"""How deep the functions that branches and loops become will stand inside each other.

if p: ...                  1         if p: return a             1: what follows moves into the other branch
elif q: ...                2         if q: return b             2
else: ...                            return c
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import SCOPES, completes, sub_statements
from autograph_torch.source.nodes import children

DEEPEST_TEXT = 50  # Python's parser takes about 100 levels of indentation, and 200 of parentheses


def nesting(block: Sequence[gast.stmt], facts: Facts) -> int:
    """The depth for one block of a function, functions inside it apart."""
    above = deepest = 0
    for node in block:
        if isinstance(node, SCOPES):
            continue
        own = int(facts.is_site(node))
        arms = [node.body, node.orelse] if isinstance(node, gast.If) else [sub_statements(node)]
        inside = [*(own + nesting(arm, facts) for arm in arms), *(_expression(part, facts) for part in _parts(node))]
        deepest = max(deepest, above + max(inside))
        if own and isinstance(node, gast.If) and not all(map(completes, arms)):
            above += 1
    return deepest


def _expression(node: gast.AST, facts: Facts) -> int:
    """The same for conditional expressions inside each other."""
    own = int(isinstance(node, gast.IfExp) and facts.is_site(node))
    return own + max((_expression(part, facts) for part in _parts(node)), default=0)


def _parts(node: gast.AST) -> Iterator[gast.AST]:
    """What is below a node and no statement."""
    return (child for child in children(node) if not isinstance(child, gast.stmt))
