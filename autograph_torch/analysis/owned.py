"""Lists and dicts that only one local name can reach: nobody else sees what a branch does to them.

xs = []                                made here
xs.append(x); xs[0]; len(xs)           used, and never given away
return torch.stack(xs)
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.scopes import captured, names_of, parameters, walk_scope

_MADE = (gast.List, gast.Dict, gast.ListComp, gast.DictComp)
_METHODS = frozenset(
    "append extend insert pop remove clear reverse sort copy index count "
    "get items keys values update setdefault".split()
)
_READERS = frozenset("len sum min max any all list tuple sorted enumerate reversed zip stack cat".split())


def owned_containers(function: gast.FunctionDef) -> frozenset[str]:
    """The local names of a function whose lists and dicts no other name can reach."""
    nodes = list(walk_scope(function.body))
    made = {target.id for node in nodes for target in _targets_of_new(node)}
    used = {id(inner) for node in nodes for inner in _harmless(node)}
    given = {node.id for node in nodes if isinstance(node, gast.Name) and id(node) not in used}
    outside = {*parameters(function.args), *names_of(function.body).outer, *captured(function.body)}
    return frozenset(made - given - outside)


def _targets_of_new(node: gast.AST) -> list[gast.Name]:
    """Names that an assignment binds to a new container."""
    if isinstance(node, gast.Assign) and isinstance(node.value, _MADE):
        return [target for target in node.targets if isinstance(target, gast.Name) and len(node.targets) == 1]
    if isinstance(node, gast.AnnAssign) and isinstance(node.value, _MADE) and isinstance(node.target, gast.Name):
        return [node.target]
    return []


def _harmless(node: gast.AST) -> list[gast.expr]:
    """Places in a node where a container is used and not given away."""
    if isinstance(node, gast.Subscript):
        return [node.value]
    if isinstance(node, gast.Attribute) and node.attr in _METHODS:
        return [node.value]
    if isinstance(node, gast.Call):
        label = getattr(node.func, "id", getattr(node.func, "attr", ""))
        return list(node.args) if label in _READERS else []
    if isinstance(node, (gast.For, gast.comprehension)):
        return [node.iter]
    if isinstance(node, gast.Compare):
        return list(node.comparators)
    if isinstance(node, gast.UnaryOp):  # `not xs`
        return [node.operand]
    if isinstance(node, (gast.If, gast.While, gast.IfExp)):
        return [node.test]
    if isinstance(node, gast.Return):
        return [node.value, *getattr(node.value, "elts", [])] if node.value is not None else []
    return list(_targets_of_new(node))
