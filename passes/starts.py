"""Whether a function has anything in it that a pass would start from; most have not, and are spared all passes.

Every rewrite and every message of a pass begins at a node that is a start here: when a pass learns to begin at another,
this file has to learn it too (tests/passes/test_starts.py runs the passes on what this file calls idle).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Imports
from autograph_torch.analysis.scopes import SCOPES
from autograph_torch.passes.effects import HOST_WORDS, is_host_call, stream_method
from autograph_torch.passes.filters import FILTER_WORDS, is_filtered
from autograph_torch.passes.numbers import NUMBER_WORDS, is_number
from autograph_torch.passes.queries import QUERY_WORDS, is_membership, is_query
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


def may_have_work(function: ast.AST, imports: Imports) -> bool:
    """The same of Python's own tree, before anything is known of the function: most need not even be converted."""
    stack = children(function)
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind in _ALWAYS or (kind is ast.UnaryOp and isinstance(node.op, ast.Not)):
            return True
        if kind is ast.Call and _may_start(node.func, imports):
            return True
        if kind is ast.Compare and (len(node.ops) > 1 or isinstance(node.ops[0], (ast.In, ast.NotIn))):
            return True
        stack += children(node)
    return False


def _may_start(function: ast.expr, imports: Imports) -> bool:
    """Whether a call of this name may be one that `_calls` or `_writes` looks for."""
    if isinstance(function, ast.Attribute):
        return function.attr in _WORDS
    name = function.id if isinstance(function, ast.Name) else ""
    return name in _WORDS or imports.origins.get(name, "").rpartition(".")[2] in _WORDS


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
    return isinstance(node.func, gast.Name) and (node.func.id in ("any", "all") or is_filtered(node, facts))


def _writes(node: gast.Expr, facts: Facts) -> bool:
    return isinstance(node.value, gast.Call) and bool(stream_method(node.value, facts)) and facts.handles_tensors()


_ALWAYS = frozenset((ast.If, ast.While, ast.For, ast.IfExp, ast.Assert, ast.BoolOp))
_WORDS = frozenset(("any", "all")) | FILTER_WORDS | HOST_WORDS | NUMBER_WORDS | QUERY_WORDS
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
