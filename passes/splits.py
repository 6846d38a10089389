"""Statements that need what follows in both of their branches become an `if`, whose branches have room for it.

A trace has shown which (capture/attempts.py): torch's operators hand out copies, and what a conditional expression or a
loop gives may be a tensor from before, which is written to afterwards.

    y = x if p else x * 2                  if p:
    y += 1                                     y = x
                                           else:
                                               y = x * 2
                                           y += 1

    while p(y):                            if p(y):
        y = y * 2                              y = y * 2
    y += 1                                     while p(y):
                                                   y = y * 2
                                           y += 1

passes/jumps.py then moves what follows. A loop keeps its form when its body jumps or its test binds a name.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import binds, exits
from autograph_torch.source.nodes import derive, place, rebuild


def make_room(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite the statements of a function that lie on the lines to be split."""
    if not facts.split_lines:
        return function

    def open_up(node: gast.AST) -> gast.AST:
        node = rebuild(node, open_up)
        if getattr(node, "lineno", None) not in facts.split_lines:
            return node
        if isinstance(node, (gast.Assign, gast.AnnAssign)) and isinstance(node.value, gast.IfExp):
            return _as_statement(node, node.value)
        if isinstance(node, gast.While) and not node.orelse and not binds(node.test) and not exits(node.body):
            return place(gast.If(test=node.test, body=[*node.body, node], orelse=[]), node)
        return node

    return rebuild(function, open_up)


def _as_statement(node: gast.Assign | gast.AnnAssign, choice: gast.IfExp) -> gast.If:
    body, orelse = (derive(node, value=value) for value in (choice.body, choice.orelse))
    return place(gast.If(test=choice.test, body=[body], orelse=[orelse]), node)
