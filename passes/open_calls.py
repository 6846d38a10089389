"""A call that gives values of different types: what follows it becomes a function, which each of the values goes into.

    y = f(x)                               def rest(found):
    return y + x                               y = found
                                               return y + x

                                           return ag.followed(ag.opened(f(x)), rest)

The call may be a part of the statement, where nothing but names and constants is evaluated before it; then the calls of
the statement are opened one after the other:

    return f(x), g(x)                      def rest(found):
                                               def rest_1(found_1):
                                                   return found, found_1

                                               return ag.followed(ag.opened(g(x)), rest_1)

                                           return ag.followed(ag.opened(f(x)), rest)

A trace has shown which (capture/attempts.py). It comes before all passes: the new function is converted as one of the
user's. Names that are bound before the call and again behind it are parameters.

Left alone: calls in loops, `with` and `try`; names that other functions share; `super()` behind the call.
"""

from __future__ import annotations

import builtins
import copy
from dataclasses import dataclass

import gast

from autograph_torch.analysis.evaluation import path_to
from autograph_torch.analysis.facts import Fresh
from autograph_torch.analysis.liveness import EMPTY, bound_after, live_before
from autograph_torch.analysis.scopes import (
    SUSPENDS,
    binds,
    captured,
    leaves_out,
    names_of,
    parameters,
    reads,
    rebound_by_calls,
    walk_scope,
)
from autograph_torch.passes.splits import evaluate_first
from autograph_torch.source.nodes import derive, name, place, substitute, walk
from autograph_torch.source.templates import function as make_function
from autograph_torch.source.templates import returns, runtime_call, tuple_of

_STATEMENTS = (gast.Assign, gast.AnnAssign, gast.Return, gast.Expr)
_MOST = 4  # calls of one statement: each makes what follows twice


def open_calls(function: gast.FunctionDef, lines: frozenset[int]) -> gast.FunctionDef:
    """Rewrite the calls of a function that stand on these lines."""
    nodes = list(walk_scope(function.body))
    # `if p: y = f(x)` on one line: it is the `if` that a trace has shown. So is the test of a comprehension.
    blocks = {node.lineno for node in nodes if isinstance(node, (gast.If, gast.While, gast.For)) or leaves_out(node)}
    if not lines - blocks or any(isinstance(node, (*SUSPENDS, gast.Delete)) for node in nodes):
        return function
    shared = captured(function.body) | set(names_of(function.body).outer)
    taken = {node.id for node in walk(function) if isinstance(node, gast.Name)}
    around = rebound_by_calls(function)
    opener = _Opener(lines - blocks, frozenset(shared), around, Fresh(taken | set(parameters(function.args))))
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
    def __init__(self, lines: frozenset[int], shared: frozenset[str], around: frozenset[str], fresh: Fresh) -> None:
        self._lines = lines
        self._shared = shared
        self._around = around  # names of scopes around, which the call may bind anew
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
            elif isinstance(statement, _STATEMENTS) and statement.lineno in self._lines:
                opened = self._opened(statement, rest, bound, _MOST)
                if opened is not None:
                    return [*block[:index], *opened]
            bound = bound.after(statement)
        return block

    def _opened(self, node: gast.stmt, rest: list[gast.stmt], bound: _Before, most: int) -> list[gast.stmt] | None:
        """The statement and what follows it as a function, and its call; None where that would be another program."""
        opened = _first_call(node.value, self._shared) if node.value is not None and most else None
        if opened is None or (opened is node.value and isinstance(node, gast.Return)):
            return None
        if _is_built_in(opened.func) and any(isinstance(one, gast.IfExp) for one in walk(node.value)):
            return None  # it is the conditional expression that a trace has shown (passes/splits.py)
        path = path_to(node.value, lambda part: part is opened)
        if path is None and not self._is_fixed(node.value):
            return None
        first, known = evaluate_first(path or [], node, self._fresh, self._is_fixed)
        found = self._fresh("found")
        holding = derive(node, value=substitute(node.value, {**known, id(opened): name(found)}))
        follows = [] if isinstance(node, gast.Return) else copy.deepcopy(rest)
        inside = _Before(bound.surely | {found}, bound.perhaps | {found})
        body = self._opened(holding, follows, inside, most - 1) or [holding, *follows]
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
        call = runtime_call("followed", runtime_call("opened", opened), name(rest_name), *handed)
        follow = make_function(rest_name, [found, *given], body)
        follow._generated = False  # a function like the user's: what it binds is its own
        return [*first, *(place(one, node) for one in (follow, returns(call)))]

    def _is_fixed(self, part: gast.expr) -> bool:
        return self._around.isdisjoint(reads([part]))


def _is_built_in(function: gast.expr) -> bool:
    return isinstance(function, gast.Name) and hasattr(builtins, function.id)


def _first_call(node: gast.AST | None, shared: frozenset[str]) -> gast.Call | None:
    """The call of an expression that is evaluated first, if nothing but names and constants comes before it."""
    return _first(node, shared)[0]


def _first(node: gast.AST | None, shared: frozenset[str]) -> tuple[gast.Call | None, bool]:
    """That call, and whether nothing but names and constants is evaluated where there is none."""
    if node is None or isinstance(node, gast.Constant):
        return None, True
    if isinstance(node, gast.Name):
        return None, node.id not in shared
    for part in _parts(node):
        found, plain = _first(part, shared)
        if found is not None:
            return found, False
        if not plain:
            break
    else:
        if isinstance(node, (gast.Tuple, gast.List, gast.Dict)):
            return None, True
    return (node if isinstance(node, gast.Call) else None), False


def _parts(node: gast.AST) -> list[gast.AST | None]:
    """The parts of an expression in the order of their evaluation, as far as it is known here."""
    if isinstance(node, gast.Call):
        # A method is looked up before the arguments are evaluated.
        method = isinstance(node.func, gast.Attribute) and isinstance(node.func.value, gast.Name)
        return [node.func.value if method else node.func, *node.args, *(one.value for one in node.keywords)]
    if isinstance(node, gast.Dict):
        return [part for pair in zip(node.keys, node.values, strict=True) for part in pair]
    if isinstance(node, (gast.Tuple, gast.List)):
        return list(node.elts)
    return [node.left, node.right] if isinstance(node, gast.BinOp) else []
