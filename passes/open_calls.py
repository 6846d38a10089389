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

In a loop what follows belongs to the trip; there an `if` tells the values apart, up to three of them:

    for v in x:                            for v in x:
        y = f(v)                               found = ag.opened(f(v))
        if y is not None: ys.append(y)         if ag.is_first(found):
                                                   value = ag.first(found)
                                               else:
                                                   others = ag.others(found)
                                                   if ag.is_first(others):
                                                       value = ag.first(others)
                                                   else:
                                                       value = ag.last(others)
                                               y = value
                                               if y is not None: ys.append(y)

Left alone: calls in `with` and `try` outside of loops; names that other functions share; `super()` behind the call.
"""

from __future__ import annotations

import builtins
import copy
from dataclasses import dataclass

import gast

from autograph_torch.analysis.evaluation import path_to
from autograph_torch.analysis.facts import Facts, Fresh
from autograph_torch.analysis.liveness import EMPTY, bound_after, live_before
from autograph_torch.analysis.scopes import (
    LOOPS,
    SCOPES,
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
from autograph_torch.analysis.vocabulary import TENSOR_METHODS
from autograph_torch.passes.splits import evaluate_first
from autograph_torch.source.nodes import as_list, derive, name, place, rebuild, substitute, walk
from autograph_torch.source.templates import assign, returns, runtime_call, tuple_of
from autograph_torch.source.templates import function as make_function

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


def open_in_trips(block: list[gast.stmt], facts: Facts) -> list[gast.stmt]:
    """The calls of statements that stand in a loop."""
    lines = frozenset(node.lineno for node in block)
    shared = captured(facts.function.body) | set(names_of(facts.function.body).outer)
    opener = _Opener(lines, frozenset(shared), facts.rebound_by_calls, facts.fresh)
    return [new for node in block for new in as_list(opener.in_trips(node))]


def calls_of_users(node: gast.expr) -> bool:
    """Whether an expression calls what is neither torch's nor Python's, as far as its names show."""
    return any(isinstance(inner, gast.Call) and not _is_torchs(inner) for inner in walk(node))


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
            elif isinstance(statement, _STATEMENTS) and statement.lineno in self._lines and not _filters(statement):
                opened = self._opened(statement, rest, bound, _MOST)
                if opened is not None:
                    return [*block[:index], *opened]
            elif isinstance(statement, LOOPS):
                loop = self.in_trips(statement)
                block = block if loop is statement else [*block[:index], loop, *follows]
            bound = bound.after(statement)
        return block

    def _opened(self, node: gast.stmt, rest: list[gast.stmt], bound: _Before, most: int) -> list[gast.stmt] | None:
        """The statement and what follows it as a function, and its call; None where that would be another program."""
        found = self._fresh("found")
        apart = self._call_apart(node, found) if most else None
        if apart is None:
            return None
        first, opened, holding = apart
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

    def _call_apart(self, node: gast.stmt, found: str) -> tuple[list[gast.stmt], gast.Call, gast.stmt] | None:
        """What a statement evaluates before its first call, the call, and the statement with `found` for it."""
        opened = _first_call(node.value, self._shared) if node.value is not None else None
        if opened is None or (opened is node.value and isinstance(node, gast.Return)):
            return None
        if _is_built_in(opened.func) and any(isinstance(one, gast.IfExp) for one in walk(node.value)):
            return None  # it is the conditional expression that a trace has shown (passes/splits.py)
        path = path_to(node.value, lambda part: part is opened)
        if path is None and not self._is_fixed(node.value):
            return None
        first, known = evaluate_first(path or [], node, self._fresh, self._is_fixed)
        return first, opened, derive(node, value=substitute(node.value, {**known, id(opened): name(found)}))

    def in_trips(self, node: gast.AST) -> gast.AST | list[gast.stmt]:
        """A statement of a loop, with the values of its first call told apart; those inside of it likewise."""
        if isinstance(node, (*SCOPES, gast.expr)):
            return node
        if not isinstance(node, _STATEMENTS) or node.lineno not in self._lines:
            return rebuild(node, self.in_trips)
        before, node = self._without_torchs_calls(node)
        value = self._fresh("value")
        apart = self._call_apart(node, value)
        if apart is None:
            return [*before, node]
        first, opened, holding = apart
        found, others = self._fresh("found"), self._fresh("others")
        told_apart = [
            assign([found], runtime_call("opened", opened)),
            _either(
                found,
                [assign([value], runtime_call("first", name(found)))],
                [
                    assign([others], runtime_call("others", name(found))),
                    _either(
                        others,
                        [assign([value], runtime_call("first", name(others)))],
                        [assign([value], runtime_call("last", name(others)))],
                    ),
                ],
            ),
        ]
        return [*before, *first, *(place(one, node) for one in told_apart), holding]

    def _without_torchs_calls(self, node: gast.stmt) -> tuple[list[gast.stmt], gast.stmt]:
        """The calls that come before that of a function of the user's, as statements; and the rest of the statement."""
        before: list[gast.stmt] = []
        rest = node
        while (found := _first_call(rest.value, self._shared)) is not None:
            if not _is_torchs(found):
                return before, rest
            kept = self._fresh("first")
            before.append(place(assign([kept], found), node))
            rest = derive(rest, value=substitute(rest.value, {id(found): name(kept)}))
        return [], node

    def _is_fixed(self, part: gast.expr) -> bool:
        return self._around.isdisjoint(reads([part]))


def _either(found: str, first: list[gast.stmt], others: list[gast.stmt]) -> gast.stmt:
    return gast.If(test=runtime_call("is_first", name(found)), body=first, orelse=others)


def _is_torchs(call: gast.Call) -> bool:
    """Whether a call is one of a method of tensors, or of a built-in function, as far as its name shows."""
    return getattr(call.func, "attr", "") in TENSOR_METHODS or _is_built_in(call.func)


def _is_built_in(function: gast.expr) -> bool:
    return isinstance(function, gast.Name) and hasattr(builtins, function.id)


def _filters(statement: gast.stmt) -> bool:
    """Whether `filter` is called: data decide in a loop (passes/comprehensions.py), and the call gives one value."""
    calls = [node for node in walk(statement) if isinstance(node, gast.Call)]
    return any(isinstance(one.func, gast.Name) and one.func.id == "filter" for one in calls)


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
