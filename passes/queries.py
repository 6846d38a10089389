"""Questions that torch answers with a Python bool become questions that the graph can answer.

    if torch.allclose(a, b):               if ag.allclose(a, b):
    if torch.equal(a, b):                  if ag.equal(a, b):
    if a.equal(b):                         if ag.equal(a, b):
    if torch.is_nonzero(t):                if ag.is_nonzero(t):
    if v in t:                             if ag.in_(v, t):

Outside a trace each does exactly what torch does.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Kind
from autograph_torch.analysis.scopes import SCOPES
from autograph_torch.source.nodes import derive, rebuild, replace
from autograph_torch.source.templates import runtime_call

QUERY_WORDS = frozenset(("allclose", "equal", "is_nonzero"))


def lower_queries(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite torch.equal and its relatives, and `in` on tensors."""

    def lower(node: gast.AST) -> gast.AST:
        if isinstance(node, SCOPES) or facts.is_skipped(node):
            return node
        new = rebuild(node, lower)
        if isinstance(new, gast.Call):
            return _query(new, facts)
        if isinstance(new, gast.Compare) and is_membership(new, facts):
            return _membership(new, facts)
        return new

    return rebuild(function, lower)


def is_query(node: gast.Call, facts: Facts) -> bool:
    """Whether a call may be torch.equal or a relative, by its name."""
    if isinstance(node.func, gast.Attribute):
        return node.func.attr in QUERY_WORDS
    return facts.kinds.torch_path(node.func) in QUERY_WORDS


def is_membership(node: gast.Compare, facts: Facts) -> bool:
    """Whether a comparison is `in` or `not in` with what may be a tensor on its right."""
    if len(node.ops) != 1 or not isinstance(node.ops[0], (gast.In, gast.NotIn)):
        return False
    if isinstance(node.left, gast.Constant) and isinstance(node.left.value, str):
        return False
    kind = facts.kinds.of(node.comparators[0])
    return kind in (Kind.TENSOR, Kind.DYNAMIC) or (kind == Kind.UNKNOWN and facts.assume_unknown)


def _query(node: gast.Call, facts: Facts) -> gast.expr:
    path = facts.kinds.torch_path(node.func)
    if path in QUERY_WORDS:
        return _done(node, derive(node, func=runtime_call(path).func), facts)
    if path is None and isinstance(node.func, gast.Attribute) and node.func.attr in QUERY_WORDS:
        if facts.kinds.of(node.func.value) in (Kind.TENSOR, Kind.DYNAMIC):
            callee = runtime_call(node.func.attr).func
            return _done(node, derive(node, func=callee, args=[node.func.value, *node.args]), facts)
    return node


def _membership(node: gast.Compare, facts: Facts) -> gast.expr:
    call = runtime_call("in_", node.left, node.comparators[0])  # in the order of Python
    if isinstance(node.ops[0], gast.NotIn):
        call = gast.UnaryOp(op=gast.Not(), operand=call)
    return _done(node, call, facts)


def _done(old: gast.expr, new: gast.expr, facts: Facts) -> gast.expr:
    facts.report("AG109", old, "a question about tensors becomes one that the graph can answer")
    return replace(old, new)
