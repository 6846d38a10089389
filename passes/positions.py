"""Elements of lists that data tell the position of.

    x = steps[i](x) + factors[i]           x = ag.called_at(steps, i, x) + ag.element_at(factors, i)

A trace has shown on which lines (capture/attempts.py). Left alone: what is assigned or written to by an index.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.source.nodes import rebuild, replace
from autograph_torch.source.templates import runtime_call


def lower_positions(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite the indices on the lines that a trace has failed on."""
    if not facts.told.positions:
        return function

    def lower(node: gast.AST) -> gast.AST:
        if isinstance(getattr(node, "ctx", None), (gast.Store, gast.Del)):
            return node
        new = rebuild(node, lower)
        if getattr(node, "lineno", None) not in facts.told.positions:
            return new
        if isinstance(node, gast.Call) and _is_element(node.func) and not _is_unpacked(node):
            called = runtime_call("called_at", lower(node.func.value), lower(node.func.slice), *new.args)
            called.keywords = new.keywords
            return replace(node, called)
        return replace(node, runtime_call("element_at", new.value, new.slice)) if _is_element(node) else new

    return rebuild(function, lower)


def _is_element(node: gast.AST) -> bool:
    """Whether it is `xs[i]`, read, with an index that is no constant."""
    if not isinstance(node, gast.Subscript) or not isinstance(node.ctx, gast.Load):
        return False
    return isinstance(node.slice, (gast.Name, gast.Attribute, gast.Subscript, gast.BinOp, gast.Call))


def _is_unpacked(node: gast.Call) -> bool:
    return any(isinstance(one, gast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords)
