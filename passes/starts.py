"""Whether a function has anything in it that a pass would start from; most have not, and are spared all passes.

Every rewrite and every message of a pass begins at a node that is a start here: when a pass learns to begin at another,
this file has to learn it too (tests/passes/test_starts.py runs the passes on what this file calls idle).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import SCOPES
from autograph_torch.passes.effects import is_host_call, stream_method
from autograph_torch.passes.numbers import is_number
from autograph_torch.passes.queries import is_membership, is_query
from autograph_torch.source.nodes import children


def has_work(function: gast.FunctionDef, facts: Facts) -> bool:
    """Whether a pass might change the function or say something about it, functions inside it apart."""
    stack = children(function)
    while stack:
        node = stack.pop()
        starts = _STARTS.get(type(node))
        if starts is not None and starts(node, facts):
            return True
        if not isinstance(node, SCOPES):
            stack += children(node)
    return False


def _asks(node: Any, facts: Facts) -> bool:
    return facts.may_be_tensor(node.test)


def _iterates(node: gast.For, facts: Facts) -> bool:
    return facts.dynamic_iterable(node.iter)


def _negates(node: gast.UnaryOp, facts: Facts) -> bool:
    return isinstance(node.op, gast.Not) and facts.may_be_tensor(node.operand)


def _combines(node: gast.BoolOp, facts: Facts) -> bool:
    return any(map(facts.may_be_tensor, node.values))


def _compares(node: gast.Compare, facts: Facts) -> bool:
    return is_membership(node, facts) or (len(node.ops) > 1 and facts.may_be_tensor(node))


def _calls(node: gast.Call, facts: Facts) -> bool:
    if is_query(node, facts) or is_number(node, facts) or (is_host_call(node, facts) and facts.handles_tensors()):
        return True
    return isinstance(node.func, gast.Name) and node.func.id in ("any", "all")


def _writes(node: gast.Expr, facts: Facts) -> bool:
    return isinstance(node.value, gast.Call) and bool(stream_method(node.value, facts)) and facts.handles_tensors()


_STARTS: Mapping[type[gast.AST], Callable[[Any, Facts], bool]] = {
    gast.If: _asks,
    gast.While: _asks,
    gast.IfExp: _asks,
    gast.Assert: _asks,
    gast.For: _iterates,
    gast.UnaryOp: _negates,
    gast.BoolOp: _combines,
    gast.Compare: _compares,
    gast.Call: _calls,
    gast.Expr: _writes,
}
