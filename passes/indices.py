"""An index that is a tensor of one integer becomes a number: torch takes `x[i]` with a 0-d tensor only in some places.

    y = values[middle]                     y = values[ag.index(middle)]

Never in the bodies of its operators, so there every index that may be a tensor is wrapped; elsewhere only where nothing
is known about a value (the decorator, not files). `ag.index` gives masks, lists of indices and Python numbers back as
they are.
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
        return inside(node) if facts.assume_unknown else rebuild(node, outside)

    def inside(node: gast.AST) -> gast.AST:
        if isinstance(node, SCOPES) and not is_generated(node):
            return node
        if isinstance(node, gast.AnnAssign):
            return node if node.value is None else derive(node, value=inside(node.value))
        new = rebuild(node, inside)
        if isinstance(new, gast.Subscript) and not _is_table(new.value, facts):
            index = _wrapped(new.slice, facts)
            return derive(new, slice=index) if index is not new.slice else new
        return new

    return rebuild(function, outside)


def _is_table(node: gast.expr, facts: Facts) -> bool:
    """Whether what is indexed surely is no tensor."""
    return facts.kinds.of(node) in (Kind.PYTHON, Kind.CONTAINER)


def _wrapped(index: gast.expr, facts: Facts) -> gast.expr:
    if isinstance(index, gast.Tuple):
        parts = [_wrapped(part, facts) for part in index.elts]
        return derive(index, elts=parts) if any(a is not b for a, b in zip(parts, index.elts, strict=True)) else index
    if not isinstance(index, (gast.Name, gast.BinOp, gast.Attribute, gast.Call, gast.Subscript)):
        return index
    kind = facts.kinds.of(index)
    unsure = (Kind.UNKNOWN, Kind.CONTAINER) if facts.assume_unknown else ()
    if kind in (Kind.TENSOR, Kind.DYNAMIC, *unsure):
        return replace(index, runtime_call("index", index))
    return index
