"""Local lists of texts that are only shown, joined, gone through, counted and asked whether they are empty.

Part of passes/texts.py.

problems = []                          problems = []
if (x < 0).any():                      if (x < 0).any():
    problems.append(f"{n} negative")       problems.append(ag.text("{} negative", n))
if problems:                           if problems:
    raise ValueError(                      raise ValueError(
        ", ".join(problems))                   ag.joined(", ", problems))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gast

from autograph_torch.analysis.scopes import walk_scope
from autograph_torch.source.nodes import walk


def lists_of_texts(
    function: gast.FunctionDef, is_text: Callable[[gast.expr], bool], shown: set[int], names: frozenset[str]
) -> frozenset[str]:
    """The names of such lists.

    `shown`: the expressions, by identity, that only effects and exceptions use. `names`: those of texts.
    """
    found = {call.func.value.id for call in additions(function) if any(map(is_text, call.args))} & _made_in(function)
    gone_through = {id(source) for target, source in elements(function) if target.id in names}
    return frozenset(name for name in found if _is_only_shown(name, function, shown | gone_through))


def _made_in(function: gast.FunctionDef) -> set[str]:
    """The names that a function binds, and nobody else sees."""
    bound = {n.id for n in walk_scope(function.body) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}
    return bound.difference(*(node.names for node in walk(function) if isinstance(node, (gast.Global, gast.Nonlocal))))


def elements(function: gast.FunctionDef) -> Iterator[tuple[gast.Name, gast.Name]]:
    """The target of each loop over something that has a name, and that name."""
    for node in walk_scope(function.body):
        if isinstance(node, gast.For) and isinstance(node.target, gast.Name) and isinstance(node.iter, gast.Name):
            yield node.target, node.iter


def sources_of_elements(function: gast.FunctionDef) -> dict[str, frozenset[str]]:
    """What names are bound to in turn, by the names of what the loops go through."""
    found: dict[str, frozenset[str]] = {}
    for target, source in elements(function):
        found[target.id] = found.get(target.id, frozenset()) | {source.id}
    return found


def additions(function: gast.FunctionDef) -> Iterator[gast.Call]:
    """The statements `names.append(value)` of a function's own code, each as its call."""
    return (node.value for node in walk_scope(function.body) if _is_addition(node))


def _is_addition(node: gast.AST) -> bool:
    """Whether a statement adds one element to a list with a name."""
    call = node.value if isinstance(node, gast.Expr) else None
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute) or call.func.attr != "append":
        return False
    return isinstance(call.func.value, gast.Name) and len(call.args) == 1 and not call.keywords


def _joined_list(call: gast.AST) -> str:
    """The name of the list that `", ".join(names)` puts together."""
    fits = isinstance(call, gast.Call) and len(call.args) == 1 and isinstance(call.args[0], gast.Name)
    if not fits or not isinstance(call.func, gast.Attribute) or call.func.attr != "join":
        return ""
    separator = call.func.value
    is_string = isinstance(separator, gast.Constant) and isinstance(separator.value, str)
    return call.args[0].id if is_string else ""


def _is_only_shown(name: str, function: gast.FunctionDef, shown: set[int]) -> bool:
    """Whether a name is bound to empty lists alone, and every use of it is one that texts allow."""
    allowed = shown.union(id(node) for inner in walk(function) for node in _uses(inner, shown))
    uses = [node for node in walk(function) if isinstance(node, gast.Name) and node.id == name]
    return all(id(node) in allowed for node in uses)


def _uses(node: gast.AST, shown: set[int]) -> list[gast.AST]:
    """The names in a node that are made, added to, joined for an effect, counted, or asked whether they are empty."""
    if isinstance(node, gast.Assign) and isinstance(node.value, gast.List) and not node.value.elts:
        return node.targets if len(node.targets) == 1 else []
    if _is_addition(node):
        return [node.value.func.value]
    if _joined_list(node) and id(node) in shown:
        return [node.args[0]]
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "len":
        return node.args
    if isinstance(node, (gast.If, gast.IfExp, gast.While)):
        return [node.test]
    return [node.operand] if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not) else []
