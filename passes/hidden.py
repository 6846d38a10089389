"""Writes that a local function sees, and that a branch or loop on a tensor would hide: left alone.

    add = lambda: total + 1
    if x.sum() > 0:
        total = total + 5
        y = add()

The body of the `if` becomes a function with a `total` of its own, while `add` reads the variable of the function around
it. Nothing is rewritten here: the statement is reported, and later passes leave it as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import LOOPS, binds, captors, reads, walk_scope


def keep_hidden_writes(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Report, and exclude from the passes that follow, what would hide a write."""
    readers = captors(function.body)
    for node in walk_scope(function.body) if readers else ():
        if isinstance(node, (gast.If, *LOOPS)) and (facts.is_site(node) or facts.needs_steps(node)):
            _check(node, readers, facts)
    return function


def _check(node: gast.If | gast.For | gast.While, readers: dict[str, frozenset[str]], facts: Facts) -> None:
    arms = [node.body, node.orelse] if isinstance(node, gast.If) else [[*node.body, *_test(node)]]
    for reader, variable in (found for arm in arms for found in _stale(arm, readers)):
        facts.report(
            "AG206",
            node,
            f"`{reader}` reads `{variable}`, which is written here, where `{reader}` would not see it",
            f"pass `{variable}` to `{reader}` as an argument",
        )
        facts.leave(node)


def _test(node: gast.For | gast.While) -> list[gast.AST]:
    return [node.test] if isinstance(node, gast.While) else []


def _stale(block: Iterable[gast.AST], readers: dict[str, frozenset[str]]) -> list[tuple[str, str]]:
    """Functions from outside of the block that it uses, each with a variable that they read and the block binds."""
    block = list(block)
    bound, used = set(binds(block)), set(reads(block))
    return [
        (reader, variable)
        for reader, variables in readers.items()
        if reader in used and reader not in bound
        for variable in sorted(variables & bound)
    ]
