"""Building new syntax nodes without losing where they came from.

Passes never change a node in place: whatever is reachable from the original tree and still hangs in the rewritten one
is *pristine*, and its bytes are copied. A node that replaces another remembers it as its *origin*:

    derive(node, body=new_body)      same kind of node, other children; the untouched parts keep their text
    replace(node, new)               another kind of node in the same place; only its span is written anew
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import gast

Node = TypeVar("Node", bound=gast.AST)

# Fields without nodes in them, but for operators and contexts; constants have none at all.
_CHILDLESS = frozenset("ctx op ops id attr arg type_comment kind module level conversion is_async simple".split())
_FIELDS: Mapping[Any, tuple[str, ...]] = {
    kind: tuple(field for field in kind._fields if field not in _CHILDLESS)
    for kind in (*vars(ast).values(), *vars(gast).values())
    if hasattr(kind, "_fields")
} | {ast.Constant: (), gast.Constant: ()}
_BLOCKS = frozenset("body handlers cases orelse finalbody".split())
_LOCATION = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def derive(node: Node, **changes: Any) -> Node:
    """A copy of `node` with some fields changed, remembering `node` as its origin, and that a pass made it."""
    fields = {name: getattr(node, name, None) for name in node._fields}
    fields.update(changes)
    new = replace(node, type(node)(**fields))
    if getattr(node, "_generated", False):
        new._generated = True  # type: ignore[attr-defined]
    return new


def replace(old: gast.AST, new: Node) -> Node:
    """`new` stands where `old` stood: it and its unplaced descendants take the location of `old`."""
    was = origin(old) or (old if _is_of_the_source(old) else None)
    if was is not None:
        new._origin = was  # type: ignore[attr-defined]
    return place(new, old)


def _is_of_the_source(node: gast.AST) -> bool:
    """Whether a node has text of its own, and was not made by a pass, with a place or not yet."""
    has_place = "lineno" not in type(node)._attributes or getattr(node, "lineno", None) is not None
    return has_place and not getattr(node, "_placed", False)


def origin(node: gast.AST) -> gast.AST | None:
    """The original node that `node` was derived from or replaces; None for pristine and for wholly new nodes."""
    return getattr(node, "_origin", None)


def place(new: Node, old: gast.AST) -> Node:
    """Give `new`, and what below it has no location, the location of `old`, so that errors show the user's line."""
    stack: list[gast.AST] = [new]
    while stack:
        node = stack.pop()
        if "lineno" in type(node)._attributes:
            if getattr(node, "lineno", None) is None:
                node._placed = True
                for name in _LOCATION:
                    setattr(node, name, getattr(old, name, None))
            elif node is not new:  # so has all that is below it
                continue
        stack += gast.iter_child_nodes(node)
    return new


def children(node: ast.AST) -> list[Any]:
    """The direct children of a node from gast or ast, as `iter_child_nodes` lists them, less operators and contexts.

    Those have nothing below them and no place in the source, and are a third of all nodes.
    """
    found = []
    for field in _FIELDS[type(node)]:
        value = getattr(node, field, None)
        if isinstance(value, gast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, gast.AST)]
    return found


def walk(node: ast.AST) -> Iterator[Any]:
    """The node and all below it, level by level, as `ast.walk` lists them, less operators and contexts."""
    level = [node]
    while level:
        yield from level
        level = [inner for outer in level for inner in children(outer)]


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """The node and the statements, handlers and match cases below it, level by level; of trees from gast or ast."""
    level = [node]
    while level:
        yield from level
        level = [inner for outer in level for inner in _blocks(outer)]


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    for field in node._fields:
        if field in _BLOCKS and isinstance(block := getattr(node, field, None), list):
            yield from block


def rebuild(node: Node, transform: Any) -> Node:
    """`node` with `transform(child)` in place of each child; the same object when nothing changed.

    A statement in a block may become a list of statements.
    """
    changes: dict[str, Any] = {}
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, list):
            new_list = list(_rebuilt_items(value, transform))
            if len(new_list) != len(value) or any(a is not b for a, b in zip(new_list, value, strict=True)):
                changes[name] = new_list
        elif isinstance(value, gast.AST):
            new = transform(value)
            if new is not value:
                changes[name] = new
    return derive(node, **changes) if changes else node


def _rebuilt_items(items: Iterable[Any], transform: Any) -> Iterator[Any]:
    for item in items:
        if not isinstance(item, gast.AST):
            yield item
            continue
        new = transform(item)
        if isinstance(new, list):
            yield from new
        elif new is not None:
            yield new


def name(identifier: str, store: bool = False) -> gast.Name:
    """A variable, read or (with `store`) written."""
    return gast.Name(id=identifier, ctx=gast.Store() if store else gast.Load(), annotation=None, type_comment=None)


def is_none(node: gast.AST | None) -> bool:
    """Whether a node is the constant None."""
    return isinstance(node, gast.Constant) and node.value is None


def parse_expression(text: str) -> gast.expr:
    """New nodes for an expression, without locations (they are placed where they are used)."""
    tree = gast.ast_to_gast(ast.parse(text, mode="eval")).body
    for node in gast.walk(tree):
        for attribute in _LOCATION:
            if hasattr(node, attribute):
                setattr(node, attribute, None)
    return tree


def substitute(node: Any, known: Mapping[int, gast.AST]) -> Any:
    """The tree with other nodes in the place of some; `known` tells them by the `id` of the old ones."""
    return known.get(id(node)) or rebuild(node, lambda child: substitute(child, known))


def as_list(nodes: Node | list[Node]) -> list[Node]:
    """What stands in a block in the place of a statement."""
    return nodes if isinstance(nodes, list) else [nodes]
