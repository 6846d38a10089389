"""A call that gives values of different types: what follows it becomes a function, which each of the values goes into.

    y = f(x)                               def rest(found):
    return y + x                               y = found
                                               return y + x

                                           return ag.followed(ag.opened(f(x)), rest)

A trace has shown which (capture/attempts.py). It comes before all passes: the new function is converted as one of the
user's. Names that are bound before the call and again behind it are parameters.

Left alone: calls in loops, `with` and `try`; names that other functions share; `super()` behind the call.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import gast

from autograph_torch.analysis.facts import Fresh
from autograph_torch.analysis.liveness import EMPTY, bound_after, live_before
from autograph_torch.analysis.scopes import SUSPENDS, binds, captured, names_of, parameters, reads, walk_scope
from autograph_torch.source.nodes import derive, name, place
from autograph_torch.source.templates import function as make_function
from autograph_torch.source.templates import returns, runtime_call, tuple_of

_ASSIGNMENTS = (gast.Assign, gast.AnnAssign)


def open_calls(function: gast.FunctionDef, lines: frozenset[int]) -> gast.FunctionDef:
    """Rewrite the calls of a function that stand on these lines."""
    nodes = list(walk_scope(function.body))
    # `if p: y = f(x)` on one line: it is the `if` that a trace has shown.
    blocks = {node.lineno for node in nodes if isinstance(node, (gast.If, gast.While, gast.For))}
    if not lines - blocks or any(isinstance(node, (*SUSPENDS, gast.Delete)) for node in nodes):
        return function
    shared = captured(function.body) | set(names_of(function.body).outer)
    taken = {node.id for node in gast.walk(function) if isinstance(node, gast.Name)}
    opener = _Opener(lines - blocks, frozenset(shared), Fresh(taken | set(parameters(function.args))))
    bound = frozenset(parameters(function.args))
    body = opener.block(function.body, [], _Before(bound, bound))
    return function if body is function.body else derive(function, body=body)


@dataclass(frozen=True)
class _Before:
    """Names that are bound where control reaches a statement."""

    surely: frozenset[str]
    perhaps: frozenset[str]

    def after(self, statement: gast.stmt) -> _Before:
        return _Before(bound_after([statement], self.surely), self.perhaps | frozenset(binds(statement)))


class _Opener:
    def __init__(self, lines: frozenset[int], shared: frozenset[str], fresh: Fresh) -> None:
        self._lines = lines
        self._shared = shared
        self._fresh = fresh

    def block(self, block: list[gast.stmt], after: list[gast.stmt], bound: _Before) -> list[gast.stmt]:
        """The block with its first such call opened; `after`: what follows the block, up to the end of the function."""
        for index, statement in enumerate(block):
            follows = block[index + 1 :]
            rest = [*follows, *after]
            if isinstance(statement, gast.If):
                sides = [self.block(side, rest, bound) for side in (statement.body, statement.orelse)]
                if sides[0] is not statement.body or sides[1] is not statement.orelse:
                    return [*block[:index], derive(statement, body=sides[0], orelse=sides[1]), *follows]
            elif isinstance(statement, _ASSIGNMENTS) and statement.lineno in self._lines:
                opened = self._opened(statement, rest, bound)
                if opened is not None:
                    return [*block[:index], *opened]
            bound = bound.after(statement)
        return block

    def _opened(
        self, node: gast.Assign | gast.AnnAssign, rest: list[gast.stmt], bound: _Before
    ) -> list[gast.stmt] | None:
        """The statement and what follows it as a function, and its call; None where that would be another program."""
        if not isinstance(node.value, gast.Call):
            return None
        found = self._fresh("found")
        body = [derive(node, value=name(found)), *copy.deepcopy(rest)]
        live = live_before(body, EMPTY)
        given = [one for one in binds(body) if one in live and one in bound.perhaps]
        if (
            self._shared & set(binds(body))
            or {"super", "__class__"} & reads(body)
            or not bound.surely.issuperset(given)
        ):
            return None
        rest_name = self._fresh("rest")
        handed = [tuple_of(given)] if given else []
        call = runtime_call("followed", runtime_call("opened", node.value), name(rest_name), *handed)
        follow = make_function(rest_name, [found, *given], body)
        follow._generated = False  # a function like the user's: what it binds is its own
        return [place(one, node) for one in (follow, returns(call))]
