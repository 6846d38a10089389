"""Conditional expressions on tensors become ag.cond.

    y = x + 1 if x.sum() > 0 else x - 1        y = ag.cond(x.sum() > 0, lambda: x + 1, lambda: x - 1)

Refused: branches that bind a name (walrus) or wait (`await`, `yield`), which cannot move into a lambda.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import SCOPES, SUSPENDS, binds, reads
from autograph_torch.source.nodes import rebuild, replace, walk
from autograph_torch.source.templates import runtime_call, thunk, tuple_of


def lower_ternaries(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite the conditional expressions of a function whose test may be a tensor."""

    def lower(node: gast.AST) -> gast.AST:
        if isinstance(node, SCOPES):
            return node
        is_site = isinstance(node, gast.IfExp) and facts.is_site(node)
        node = rebuild(node, lower)
        if not is_site or not isinstance(node, gast.IfExp):
            return node
        arms = (node.body, node.orelse)
        if binds(arms) or any(isinstance(part, SUSPENDS) for arm in arms for part in walk(arm)):
            facts.report(
                "AG201",
                node,
                "a conditional expression on a tensor binds a name or waits in a branch",
                "write it as an `if` statement",
            )
            return node
        facts.report("AG106", node, "a conditional expression on a tensor becomes ag.cond")
        handed = facts.handed_over(sorted(reads(arms)))
        keywords = {"reads": tuple_of(handed)} if handed else {}
        lambdas = (thunk(node.body, handed), thunk(node.orelse, handed))
        return replace(node, runtime_call("cond", node.test, *lambdas, **keywords))

    return rebuild(function, lower)
