"""Writes that a local function sees, and that a branch or loop on a tensor would hide: left alone.

    if x.sum() > 0:
        total = x * 2
        add = lambda: total + 1
    total = total + 5
    return add()

The body of the `if` becomes a function with a `total` of its own, and that is the variable which `add` reads. So are
parameters of such functions: the target of a loop, and what may be a number of data, which is handed over.

Nothing is rewritten here: the statement is reported, and later passes leave it as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.liveness import EMPTY, live_before
from autograph_torch.analysis.scopes import (
    FUNCTIONS,
    LOOPS,
    SCOPES,
    binds,
    free_reads,
    rebound_by_functions,
    sub_statements,
    walk_scope,
)
from autograph_torch.source.nodes import children
from autograph_torch.source.templates import is_generated

Readers = dict[str, frozenset[str]]
_KEEPS = frozenset("append appendleft insert add setdefault register_forward_hook register_hook".split())


def keep_hidden_writes(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Report, and exclude from the passes that follow, what would hide a write."""
    if _made(function.body):
        _look(function.body, [], False, facts, rebound_by_functions(function.body))
    return function


def _look(block: list[gast.stmt], later: list[gast.stmt], again: bool, facts: Facts, elsewhere: frozenset[str]) -> None:
    """`later` is what may run after the block, `again` whether the block itself may.

    `elsewhere`: the variables that functions rebind, whenever they are called.
    """
    for index, node in enumerate(block):
        if isinstance(node, SCOPES):
            continue
        following = [*block[index + 1 :], *later]
        is_loop = isinstance(node, LOOPS)
        if isinstance(node, (gast.If, *LOOPS)) and (facts.is_site(node) or facts.needs_steps(node)):
            _check(node, following, again or is_loop, facts, elsewhere)
        inside = [*([node] if is_loop else []), *following]
        for inner in [node, *getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            for field in ("body", "orelse", "finalbody"):
                _look(getattr(inner, field, None) or [], inside, again or is_loop, facts, elsewhere)


def _check(
    node: gast.If | gast.For | gast.While,
    later: list[gast.stmt],
    again: bool,
    facts: Facts,
    elsewhere: frozenset[str],
) -> None:
    arms = [node.body, node.orelse] if isinstance(node, gast.If) else [[*node.body, *_head(node)]]
    for reader, variable in [found for arm in arms for found in _left_behind(arm, later, again, facts, elsewhere)]:
        facts.report(
            "AG206",
            node,
            f"`{reader}` reads `{variable}`, which is written where `{reader}` would not see it",
            f"pass `{variable}` to `{reader}` as an argument",
        )
        facts.leave(node)


def _head(node: gast.For | gast.While) -> list[gast.AST]:
    return [node.test] if isinstance(node, gast.While) else [node.target]


def _left_behind(
    block: list[gast.AST], later: list[gast.stmt], again: bool, facts: Facts, elsewhere: frozenset[str]
) -> list[tuple[str, str]]:
    """Functions made in the block and used after it, each with a variable of the block that is bound anew after it."""
    made = _made(block)
    bound, used, anew = set(binds(block)), live_before(later, EMPTY), {*binds(later), *elsewhere}
    handed = set(facts.handed_over(frozenset().union(*made.values()))) & anew
    in_every_trip = {name for node in block if not sub_statements(node) for name in binds(node)}
    in_every_trip |= {node.name for node in block if isinstance(node, FUNCTIONS)}
    return [
        (reader, variable)
        for reader, variables in made.items()
        if reader in used
        for variable in sorted(variables & (bound | handed))
        if variable in anew or (again and reader not in in_every_trip)
    ]


def _made(block: list[gast.AST]) -> Readers:
    """Names bound to functions and lambdas in a block, and to what keeps them."""
    found: Readers = {}
    local: dict[str, gast.AST] = {}
    for node in walk_scope(block):
        if isinstance(node, FUNCTIONS) and not is_generated(node):
            local[node.name] = node
        elif isinstance(node, gast.Assign) and isinstance(node.value, gast.Lambda):
            local.update(dict.fromkeys(binds(node.targets), node.value))
    for node in walk_scope(block):
        names, holders = [], []
        if isinstance(node, FUNCTIONS) and not is_generated(node):
            names, holders = [node.name], [node]
        elif isinstance(node, gast.Assign):
            names, holders = [*binds(node.targets), *map(_root, node.targets)], _held(node.value, local)
        elif isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr in _KEEPS:
            names, holders = [_root(node.func)], [inner for part in node.args for inner in _held(part, local)]
        read = frozenset(name for inner in holders for name in free_reads(inner))
        found.update({name: found.get(name, frozenset()) | read for name in names if name and read})
    return found


def _root(place: gast.expr) -> str:
    """The variable that an attribute or item belongs to."""
    while isinstance(place, (gast.Attribute, gast.Subscript)):
        place = place.value
    return place.id if isinstance(place, gast.Name) else ""


def _held(value: gast.expr, local: Mapping[str, gast.AST]) -> list[gast.AST]:
    """The lambdas and local functions that a value is, or is a container of."""
    if isinstance(value, gast.Lambda):
        return [] if is_generated(value) else [value]
    if isinstance(value, gast.Name):
        return [local[value.id]] if value.id in local else []
    kept = (gast.Tuple, gast.List, gast.Set, gast.Dict, gast.IfExp, gast.BoolOp, gast.Starred)
    return [found for inner in children(value) for found in _held(inner, local)] if isinstance(value, kept) else []
