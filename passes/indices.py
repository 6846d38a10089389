"""An index that is a tensor of one integer becomes a number where it is used inside a branch or loop of the graph.

    y = values[middle]                     y = values[ag.index(middle)]

Only in functions made by earlier passes: torch's operators refuse `x[i]` with a 0-d tensor in their bodies. `ag.index`
gives masks, lists of indices and Python numbers back as they are.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Kind
from autograph_torch.analysis.scopes import SCOPES
from autograph_torch.source.nodes import derive, rebuild, replace
from autograph_torch.source.templates import is_generated, runtime_call


def lower_indices(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Wrap the indices in bodies of branches and loops that may be 0-d tensors."""

    def outside(node: gast.AST) -> gast.AST:
        if isinstance(node, SCOPES):
            return rebuild(node, inside) if is_generated(node) else node
        if isinstance(node, gast.Lambda) and is_generated(node):
            return rebuild(node, inside)
        return rebuild(node, outside)

    def inside(node: gast.AST) -> gast.AST:
        if isinstance(node, SCOPES) and not is_generated(node):
            return node
        new = rebuild(node, inside)
        if isinstance(new, gast.Subscript):
            index = _wrapped(new.slice, facts)
            return derive(new, slice=index) if index is not new.slice else new
        return new

    return rebuild(function, outside)


def _wrapped(index: gast.expr, facts: Facts) -> gast.expr:
    if isinstance(index, gast.Tuple):
        parts = [_wrapped(part, facts) for part in index.elts]
        return derive(index, elts=parts) if any(a is not b for a, b in zip(parts, index.elts, strict=True)) else index
    if not isinstance(index, (gast.Name, gast.BinOp, gast.Attribute, gast.Call)):
        return index
    kind = facts.kinds.of(index)
    if kind == Kind.TENSOR or (kind == Kind.UNKNOWN and facts.assume_unknown):
        return replace(index, runtime_call("index", index))
    return index
