"""Which objects a piece of code changes in place, as far as its text shows.

`x += 1`, `x[i] = v`, `x.add_(1)`, `xs.append(v)`, `op(..., out=x)`: the name keeps its object, and every alias sees the
write. (`total += y` on a Python number rebinds; the kinds say so where they know.)
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from autograph_torch.analysis.kinds import Kind, Kinds
from autograph_torch.analysis.scopes import walk_scope
from autograph_torch.source.templates import RUNTIME

CONTAINER_WRITES = frozenset(
    (
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "update",
        "setdefault",
        "sort",
        "reverse",
        "add",
        "discard",
        "popitem",
        "move_to_end",
        "appendleft",
        "extendleft",
        "popleft",
        "intersection_update",
        "difference_update",
        "symmetric_difference_update",
    )
)

# Functions and methods whose result is in memory of its own.
_COPIES = frozenset(
    "clone zeros ones full empty rand randn arange tensor zeros_like ones_like full_like empty_like cat stack sum mean "
    "exp sin cos tanh sigmoid sqrt matmul mm new_zeros new_ones copy deepcopy".split()
)


def base_name(node: gast.AST) -> str | None:
    """The variable at the root of `x`, `x[i]`, `x[i][j]`; None for attributes and calls."""
    while isinstance(node, gast.Subscript):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None


def written_in_place(block: Iterable[gast.AST], kinds: Kinds) -> list[str]:
    """Names whose objects the block may change, in order of appearance."""
    return sorted(written_directly(walk_scope(block), kinds), key=lambda name: _first_line(block, name))


def written_directly(nodes: Iterable[gast.AST], kinds: Kinds) -> list[str]:
    """Names whose objects these very nodes may change."""
    bases = (base_name(target) for node in nodes for target in written_targets(node, kinds))
    return list(dict.fromkeys(base for base in bases if base is not None and base != RUNTIME))


def written_targets(node: gast.AST, kinds: Kinds) -> list[gast.AST]:
    """The expressions whose objects this very node may change."""
    if isinstance(node, gast.AugAssign):
        if isinstance(node.target, gast.Name) and kinds.of(_load(node.target)) in (Kind.PYTHON, Kind.SYMBOL):
            return []
        return [node.target]
    if isinstance(node, gast.Subscript) and isinstance(node.ctx, (gast.Store, gast.Del)):
        return [node]
    if isinstance(node, gast.Call):
        written = [keyword.value for keyword in node.keywords if keyword.arg == "out"]
        if not isinstance(node.func, gast.Attribute):
            return written
        if base_name(node.func.value) == RUNTIME:  # a loop that an earlier pass has lowered
            return [part for keyword in node.keywords if keyword.arg == "mutated" for part in keyword.value.elts]
        if kinds.torch_path(node.func) is not None:
            return [*written, *(node.args[:1] if is_in_place(node.func.attr) else [])]
        # (A list of numbers from data, `x.tolist()`, is of the kind of its numbers, which have no such methods.)
        of_container = node.func.attr in CONTAINER_WRITES and kinds.of(node.func.value) <= Kind.SYMBOL
        if of_container or is_in_place(node.func.attr):
            written.append(node.func.value)
        return written
    return []


def is_in_place(method: str) -> bool:
    """Whether the name of a method says that it changes its object: `add_`."""
    return method.endswith("_") and not method.startswith("_")


def _load(node: gast.Name) -> gast.Name:
    return gast.Name(id=node.id, ctx=gast.Load(), annotation=None, type_comment=None)


def _first_line(block: Iterable[gast.AST], name: str) -> tuple[int, int]:
    places = [
        (node.lineno, node.col_offset)
        for node in walk_scope(block)
        if isinstance(node, gast.Name) and node.id == name and getattr(node, "lineno", None) is not None
    ]
    return min(places, default=(0, 0))


def _is_new_object(value: gast.expr) -> bool:
    """Whether an expression surely gives an object that shares no memory with another: arithmetic, displays, copies."""
    if isinstance(value, (gast.BinOp, gast.List, gast.Dict, gast.ListComp, gast.Constant, gast.UnaryOp, gast.Compare)):
        return True
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
        return value.func.attr in _COPIES
    return False


def bound_anew(block: list[gast.stmt]) -> frozenset[str]:
    """Names that a block binds to what may be another object: not by `x += 1`, nor by `x = x.add_(1)`."""
    nodes = list(walk_scope(block))
    kept = [node.target for node in nodes if isinstance(node, gast.AugAssign)]
    kept += [node.targets[0] for node in nodes if isinstance(node, gast.Assign) and _gives_target(node)]
    ids = {id(one) for one in kept}
    stored = (node for node in nodes if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store))
    return frozenset(node.id for node in stored if id(node) not in ids)


def _gives_target(node: gast.Assign) -> bool:
    """Whether it is `x = x.add_(1)`, or `x = torch.relu_(x)`."""
    value = node.value
    if len(node.targets) > 1 or not isinstance(value, gast.Call) or not isinstance(value.func, gast.Attribute):
        return False
    target = getattr(node.targets[0], "id", None)
    return is_in_place(value.func.attr) and target in [
        getattr(one, "id", "") for one in (value.func.value, *value.args[:1])
    ]


def rebound_before_write(block: list[gast.stmt], name: str, kinds: Kinds) -> bool:
    """Whether the block surely binds `name` to a new object before it writes to it."""
    for statement in block:
        if name in written_in_place([statement], kinds):
            return False
        if isinstance(statement, gast.Assign) and any(
            isinstance(target, gast.Name) and target.id == name for target in statement.targets
        ):
            return _is_new_object(statement.value)
    return False
