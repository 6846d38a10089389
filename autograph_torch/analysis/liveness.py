"""Liveness: which names may still be read, and which are surely bound, at a point of a function.

Structured backward analysis (no control flow graph: Python has no goto). Sound for the passes in this sense: a name
that may be read later is always live.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import gast

from autograph_torch.analysis.scopes import (
    COMPREHENSIONS,
    SCOPES,
    binds,
    completes,
    free_reads,
    names_around,
    names_of,
    parameters,
    reads,
    sub_statements,
)
from autograph_torch.source.nodes import children
from autograph_torch.source.templates import runtime_function

Live = frozenset[str]
EMPTY: Live = frozenset()


@dataclass(frozen=True)
class Targets:
    """What is live where jumps lead: after the loop, at its next trip, and in a handler that may catch."""

    on_break: Live = EMPTY
    on_continue: Live = EMPTY
    on_raise: Live = EMPTY


def live_before(block: list[gast.stmt], after: Live, targets: Targets = Targets()) -> Live:
    """Names that may be read from the start of `block` on, when `after` is live at its end."""
    for statement in reversed(block):
        after = _statement(statement, after, targets) | targets.on_raise
    return after


def live_after_each(block: list[gast.stmt], after: Live, targets: Targets = Targets()) -> list[Live]:
    """For each statement of `block`, the names that may be read from its end on."""
    lives = [after] * len(block)
    for index in range(len(block) - 1, 0, -1):
        lives[index - 1] = live_before([block[index]], lives[index], targets)
    return lives


def _statement(node: gast.stmt, after: Live, targets: Targets) -> Live:
    if isinstance(node, gast.Return):
        return EMPTY if node.value is None else _reads(node.value)
    if isinstance(node, gast.Raise):
        return frozenset(reads(node))
    if isinstance(node, gast.Break):
        return targets.on_break
    if isinstance(node, gast.Continue):
        return targets.on_continue
    if isinstance(node, gast.If):
        branches = live_before(node.body, after, targets) | live_before(node.orelse, after, targets)
        return (branches - frozenset(surely_binds(node.test))) | reads(node.test)
    if isinstance(node, gast.While):
        return _while(node, after, targets)
    if isinstance(node, (gast.For, gast.AsyncFor)):
        return _for(node, after, targets)
    if isinstance(node, (gast.With, gast.AsyncWith)):
        return _with(node, after, targets)
    if isinstance(node, (gast.Try, getattr(gast, "TryStar", gast.Try))):
        return _try(node, after, targets)
    if isinstance(node, SCOPES):
        return (after - {node.name}) | set(free_reads(node))
    if sub_statements(node):  # match
        return after | reads(node)
    found = names_of(node)
    if isinstance(node, gast.Assign) and runtime_function(node.value) == "cond":
        return after.difference(surely_binds(node)).union(_reads(node.value), reads(node.targets))
    return (after.difference(surely_binds(node)) if found.binds else after).union(found.reads)


def _reads(value: gast.expr) -> Live:
    """Names that an expression reads; those that the test of a branch binds are bound when the branches read them."""
    if runtime_function(value) != "cond" or not value.args:
        return frozenset(reads(value))
    test, *functions = value.args
    read = reads([*functions, *(keyword.value for keyword in value.keywords)])
    return frozenset(read.difference(surely_binds(test)).union(reads(test)))


def loop_head(node: gast.While | gast.For, after: Live, targets: Targets = Targets()) -> Live:
    """Names live at the head of a loop, where every trip starts and where the loop may end."""
    at_end = live_before(node.orelse, after, targets)
    if isinstance(node, gast.While):
        own_reads, own_binds = reads(node.test), frozenset(binds(node.test))
    else:
        own_reads, own_binds = set(), frozenset(binds(node.target))
    head: Live = at_end | own_reads
    while True:
        inner = replace(targets, on_break=after, on_continue=head)
        grown = head | ((live_before(node.body, head, inner) - own_binds) | own_reads)
        if grown == head:
            return head
        head = grown


def _while(node: gast.While, after: Live, targets: Targets) -> Live:
    return loop_head(node, after, targets)


def _for(node: gast.For, after: Live, targets: Targets) -> Live:
    # The target stays unbound when there is no trip, so the loop does not end the life of its names.
    return loop_head(node, after, targets) | reads(node.iter)


def _with(node: gast.With, after: Live, targets: Targets) -> Live:
    if any(_may_swallow(item.context_expr) for item in node.items):  # what follows goes on with what was there before
        targets = replace(targets, on_raise=targets.on_raise | after)
    live = live_before(node.body, after, targets)
    for item in reversed(node.items):
        bound = binds(item.optional_vars) if item.optional_vars is not None else []
        live = (live - set(bound)) | reads(item.context_expr)
        if item.optional_vars is not None:
            live |= reads(item.optional_vars)
    return live


def flows_of(node: gast.stmt, after: Live, targets: Targets) -> dict[str, tuple[Live, Targets]]:
    """What is live behind each block of a `try` or `with`, and where jumps and exceptions lead; nothing for others."""
    if isinstance(node, gast.Try):
        return _flows_of_try(node, after, targets)
    return _flows_of_with(node, after, targets) if isinstance(node, gast.With) else {}


def _flows_of_with(node: gast.With, after: Live, targets: Targets) -> dict[str, tuple[Live, Targets]]:
    """Exceptions lead behind the block, where the manager is there to swallow them. Others are not taken for such."""
    if any(_last_name(item.context_expr) in _SWALLOW for item in node.items):
        targets = replace(targets, on_raise=targets.on_raise | after)
    return {"body": (after, targets)}


_SWALLOW = ("suppress", "ExitStack", "raises", "assertRaises")


def _last_name(manager: gast.expr) -> str:
    function = manager.func if isinstance(manager, gast.Call) else manager
    return getattr(function, "attr", getattr(function, "id", ""))


def _may_swallow(manager: gast.expr) -> bool:
    """Whether a context manager may end an exception; those of torch do not."""
    while isinstance(manager, (gast.Call, gast.Attribute)):
        manager = manager.func if isinstance(manager, gast.Call) else manager.value
    return not (isinstance(manager, gast.Name) and manager.id == "torch")


def _try(node: gast.Try, after: Live, targets: Targets) -> Live:
    end = live_before(node.finalbody, after, targets) if node.finalbody else after
    asked = reads([handler.type for handler in node.handlers if handler.type is not None])
    inside = replace(targets, on_raise=live_on_raise(node, after, targets))
    return live_before([*node.body, *node.orelse], end, inside) | _caught(node, end, targets) | asked


def live_on_raise(node: gast.Try, after: Live, targets: Targets) -> Live:
    """Names that are read when an exception leaves the body of a `try`."""
    end = live_before(node.finalbody, after, targets) if node.finalbody else after
    return targets.on_raise | _caught(node, end, targets) | (end if node.finalbody else EMPTY)


def _flows_of_try(node: gast.Try, after: Live, targets: Targets) -> dict[str, tuple[Live, Targets]]:
    end = live_before(node.finalbody, after, targets) if node.finalbody else after
    uncaught = replace(targets, on_raise=targets.on_raise | (end if node.finalbody else EMPTY))
    caught = replace(targets, on_raise=live_on_raise(node, after, targets))
    return {
        "body": (live_before(node.orelse, end, uncaught), caught),
        "orelse": (end, uncaught),
        "handlers": (end, uncaught),
        "finalbody": (after | targets.on_raise, targets),
    }


def _caught(node: gast.Try, end: Live, targets: Targets) -> Live:
    """Names that the handlers read before they bind them."""
    named = [(handler.body, {handler.name.id} if handler.name else set()) for handler in node.handlers]
    return EMPTY.union(*(live_before(body, end, targets) - names for body, names in named))


def bound_at_start(function: gast.FunctionDef) -> frozenset[str]:
    """Names that are not the function's to bind (of scopes around it), and its parameters."""
    declared = frozenset(names_of(function.body).outer)
    return frozenset(parameters(function.args)) | names_around(function) | declared


def bound_inside(node: gast.AST, block: str, before: frozenset[str]) -> frozenset[str]:
    """Names surely bound where a block of a compound statement (or a handler) starts: `body`, `orelse`, ..."""
    if isinstance(node, gast.If):
        return before | frozenset(surely_binds(node.test))
    if isinstance(node, gast.While):
        return _bound(node, before)
    if isinstance(node, (gast.For, gast.AsyncFor)):
        return _bound(node, before) | frozenset(binds(node.target) if block == "body" else ())
    if isinstance(node, (gast.With, gast.AsyncWith)):
        items = [part for item in node.items for part in (item.context_expr, item.optional_vars) if part is not None]
        return before | frozenset(surely_binds(items))
    if isinstance(node, gast.ExceptHandler) and node.name:
        return before | {node.name.id}
    if isinstance(node, gast.match_case):
        return before | frozenset(binds(node.pattern))
    return before


def bound_after(block: list[gast.stmt], before: frozenset[str]) -> frozenset[str]:
    """Names surely bound when control reaches the end of `block`."""
    for statement in block:
        before = _bound(statement, before)
    return before


def _bound(node: gast.stmt, before: frozenset[str]) -> frozenset[str]:
    if isinstance(node, gast.If):
        before |= frozenset(surely_binds(node.test))
        ends = [bound_after(arm, before) for arm in (node.body, node.orelse) if completes(arm)]
        return frozenset.intersection(*ends) if ends else before
    if isinstance(node, gast.While):
        return (before - _deleted(node.body)) | frozenset(surely_binds(node.test))
    if isinstance(node, (gast.For, gast.AsyncFor)):
        return (before | frozenset(surely_binds(node.iter))) - _deleted(node.body)
    if isinstance(node, (gast.With, gast.AsyncWith)):
        return bound_after(node.body, bound_inside(node, "body", before))
    if isinstance(node, gast.Try):
        return bound_after(node.finalbody, _bound_by_try(node, before))
    if isinstance(node, gast.Delete):
        return before - _deleted([node])
    if sub_statements(node) and not isinstance(node, SCOPES):
        return before
    return before | frozenset(surely_binds(node))


def _bound_by_try(node: gast.Try, before: frozenset[str]) -> frozenset[str]:
    ends = [bound_after([*node.body, *node.orelse], before)] if completes([*node.body, *node.orelse]) else []
    before -= _deleted(node.body)
    ends += [bound_after(handler.body, before) for handler in node.handlers if completes(handler.body)]
    return frozenset.intersection(*ends) if ends else before


def _deleted(block: list[gast.stmt]) -> frozenset[str]:
    return frozenset(names_of(block).deletes)


def surely_binds(nodes: gast.AST | list[gast.AST]) -> list[str]:
    """Names that evaluating the nodes binds whatever happens: not in later operands, branches or comprehensions."""
    if not isinstance(nodes, list) and isinstance(nodes, gast.stmt):
        known = getattr(nodes, "_surely_binds", None)  # looked for once: trees are never changed in place
        if known is None:
            known = nodes._surely_binds = surely_binds([nodes])
        return list(known)
    found: list[str] = []
    for node in nodes if isinstance(nodes, list) else [nodes]:
        parts: list[gast.AST] = children(node)
        if isinstance(node, gast.BoolOp):
            parts = node.values[:1]
        elif isinstance(node, gast.IfExp):
            parts = [node.test]
        elif isinstance(node, COMPREHENSIONS):
            parts = [node.generators[0].iter]
        elif isinstance(node, gast.AnnAssign) and node.value is None:
            parts = []
        elif isinstance(node, gast.Compare):
            parts = [node.left, *node.comparators[:1]]
        elif isinstance(node, (*SCOPES, gast.Lambda, gast.Import, gast.ImportFrom, gast.Name, gast.AugAssign)):
            found += binds(node)
            continue
        found += surely_binds(parts)
    return found
