"""A function that data may leave early, and that writes attributes, leaves by one exit.

    if x.sum() < 0:                        for _ in ag.once():
        return x                               if x.sum() < 0:
    self.total += x                                returned = x
    return self.total                              break
                                               self.total += x
                                               returned = self.total
                                               break
                                           return returned

What follows an early return moves into a branch later on, and a branch hands out nothing but results. As the state of a
loop of one trip the attributes come out, whichever way it ends (see attributes.py). Left as it is: a region in which
`return` also leaves a loop, `with` or `try`. Variables of enclosing scopes are results of their own (see branches.py).
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import LOOPS, SCOPES, completes, walk_scope
from autograph_torch.analysis.writes import attributes_written
from autograph_torch.source.nodes import derive, name, place, rebuild
from autograph_torch.source.templates import assign, constant, returns, runtime_call


def single_exit(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Join the returns of a region that writes attributes."""
    for index, statement in enumerate(function.body):
        if facts.exits_under_data([statement]).returns:
            region = function.body[index:]
            if not attributes_written(region) or _leaves_blocks(region):
                return function
            return derive(function, body=[*function.body[:index], *_joined(region, facts)])
    return function


def _leaves_blocks(region: list[gast.stmt]) -> bool:
    """Whether some `return` stands in a block that `break` cannot leave the same way."""
    blocks = [node for node in walk_scope(region) if isinstance(node, (*LOOPS, gast.With, gast.Try))]
    return any(isinstance(node, gast.Return) for block in blocks for node in walk_scope(block))


def _joined(region: list[gast.stmt], facts: Facts) -> list[gast.stmt]:
    result = facts.fresh("returned")

    def lower(node: gast.AST) -> gast.AST | list[gast.AST]:
        if isinstance(node, gast.Return):
            value = node.value if node.value is not None else constant(None)
            return [place(assign([result], value), node), place(gast.Break(), node)]
        return node if isinstance(node, (*SCOPES, gast.expr)) else rebuild(node, lower)

    body: list[gast.stmt] = []
    for statement in region:
        new = lower(statement)
        body += new if isinstance(new, list) else [new]
    if completes(region):
        body.append(place(assign([result], constant(None)), region[-1]))
    target = name(facts.fresh("_"), store=True)
    loop = gast.For(target=target, iter=runtime_call("once"), body=body, orelse=[], type_comment=None)
    return [place(loop, region[0]), place(returns(name(result)), region[-1])]
