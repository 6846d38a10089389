"""The functions that passes make are numbered in the order in which one reads them.

    def then_2(x):                         def then(x):
        def then(x): ...          ->           def then_2(x): ...

Passes work from the inside out, so that the innermost function is named first.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping

import gast

from autograph_torch.analysis.facts import Fresh
from autograph_torch.analysis.scopes import SCOPES
from autograph_torch.source.templates import is_generated


def number_in_reading_order(function: gast.FunctionDef, fresh: Fresh) -> gast.FunctionDef:
    """The function with the names that `fresh` gave to functions handed out anew."""
    made = list(dict.fromkeys(_made(function.body)))
    new: dict[str, str] = {}
    for base in dict.fromkeys(fresh.bases[name] for name in made):
        names = [name for name in made if fresh.bases[name] == base]
        new.update(zip(names, sorted(names, key=list(fresh.bases).index), strict=True))
    if all(old == name for old, name in new.items()):
        return function
    return _copied(function, {"body": [_renamed(statement, new) for statement in function.body]})


def _made(nodes: list[gast.stmt]) -> Iterator[str]:
    """The names of functions that passes have made, as they are read; the user's own functions have their own."""
    for node in nodes:
        if isinstance(node, SCOPES) and not is_generated(node):
            continue
        if is_generated(node):
            yield node.name
        for field in ("body", "orelse", "handlers", "cases", "finalbody"):
            block = getattr(node, field, None)
            yield from _made(block) if isinstance(block, list) else ()


def _renamed(node: gast.AST, names: Mapping[str, str]) -> gast.AST:
    if isinstance(node, SCOPES) and not is_generated(node):
        return node
    changes: dict[str, object] = {}
    for field, value in gast.iter_fields(node):
        if isinstance(value, list):
            new = [_renamed(item, names) if isinstance(item, gast.AST) else item for item in value]
            if any(a is not b for a, b in zip(new, value, strict=True)):
                changes[field] = new
        elif isinstance(value, gast.AST) and (child := _renamed(value, names)) is not value:
            changes[field] = child
        elif field in ("id", "name") and isinstance(value, str) and names.get(value, value) != value:
            changes[field] = names[value]
    return _copied(node, changes) if changes else node


def _copied(node: gast.AST, changes: Mapping[str, object]) -> gast.AST:
    """A copy with some fields changed that keeps its place and its origin: as text it is what it was."""
    new = copy.copy(node)
    for field, value in changes.items():
        setattr(new, field, value)
    return new
