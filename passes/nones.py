"""Names that are None on some paths through a loop, and something else on others, become names that may be unbound.

    best = None                            best = ag.nothing("best")
    for x in xs:                           for x in xs:
        if best is None or f(x) > 0:           if ag.is_nothing(best) or f(x) > 0:
            best = x                               best = x
    if best is not None:                   if not ag.is_nothing(best):
        y = y + best                           y = y + ag.some(best)
    return best, y                         return ag.optional(best), y

A graph has no None. A name that some path has not bound travels with a flag already (passes/undefined.py); here that
flag says whether the name is None. A trace has shown for which statements it is needed (capture/attempts.py).

Where no test around a read has found that the name is not None, the read becomes `ag.known(best)`: it is refused where
only data tell, and what follows the `if` moves into both branches instead.

Left alone: names that other functions see, that are deleted, whose objects are written to, or that do not begin as None
on the first line that names them.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import (
    LOOPS,
    SCOPES,
    binds,
    captured,
    completes,
    names_of,
    parameters,
    reads,
    walk_scope,
)
from autograph_torch.analysis.writes import written_in_place
from autograph_torch.source.nodes import derive, is_none, rebuild, replace, walk
from autograph_torch.source.templates import constant, runtime_call, runtime_function


def flag_nones(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite what is done with the names that statements on these lines bind, in loops."""
    if not facts.told.nones:
        return function
    told = {
        n
        for loop in walk_scope(function.body)
        if isinstance(loop, LOOPS)
        for node in walk(loop)
        if isinstance(node, gast.stmt) and node.lineno in facts.told.nones
        for n in binds(loop if _may_leave_trip(node) else node)
    }
    bound = names_of(function.body)
    added = {node.target.id for node in walk_scope(function.body) if _adds_to_name(node)}
    hidden = {*parameters(function.args), *bound.outer, *bound.deletes, *captured(function.body)}
    hidden |= {*added, *written_in_place(function.body, facts.kinds), *_unbound(function)}
    names = frozenset(n for n in told - hidden if _begins_as_none(function.body, n))
    return derive(function, body=_Flagging(names).block(function.body)) if names else function


def _may_leave_trip(node: gast.stmt) -> bool:
    """Whether what stands behind a statement is part of it, once its jumps are branches."""
    return any(isinstance(inner, (gast.Break, gast.Continue, gast.Return)) for inner in walk(node))


def _unbound(function: gast.FunctionDef) -> set[str]:
    """Names that may be unbound: passes/undefined.py has said so, and that is something else than None."""
    checks = [node for node in walk(function) if runtime_function(node) == "bound"]
    declared = [node for node in walk(function) if runtime_function(getattr(node, "value", None)) == "undefined"]
    return {n for node in checks for n in reads(node.args)} | {n for node in declared for n in binds(node)}


def _adds_to_name(node: gast.AST) -> bool:
    return isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name)


def _begins_as_none(block: list[gast.stmt], identifier: str) -> bool:
    """Whether the first statement of a function that has a name in it binds the name to None."""
    for node in block:
        if any(isinstance(inner, gast.Name) and inner.id == identifier for inner in walk(node)):
            return any(target.id == identifier for target, _ in _bound_to_none(node))
    return False


def _bound_to_none(node: gast.AST) -> list[tuple[gast.Name, gast.expr]]:
    """The names that an assignment binds to None, each with the None."""
    if isinstance(node, gast.AnnAssign) and node.value is not None:
        target, value = node.target, node.value
    elif isinstance(node, gast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
    else:
        return []
    pairs = [(target, value)]
    if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    return [(one, none) for one, none in pairs if isinstance(one, gast.Name) and is_none(none)]


class _Flagging:
    """`sure`: names that a test around has found not to be None, so that the graph need not be able to give None."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def block(self, block: list[gast.stmt], sure: frozenset[str] = frozenset()) -> list[gast.stmt]:
        done: list[gast.stmt] = []
        for node in block:
            done.append(self._visit(node, sure))
            if isinstance(node, gast.If) and not completes(node.body):
                sure |= self._found(node.test, False)
        return done

    def _visit(self, node: gast.AST, sure: frozenset[str]) -> gast.AST:
        if isinstance(node, SCOPES):
            return node
        if isinstance(node, (gast.If, gast.While, gast.IfExp)):
            return self._either(node, sure)
        if isinstance(node, gast.For):
            target, iterable = self._visit(node.target, sure), self._visit(node.iter, sure)
            body, orelse = self.block(node.body, sure), self.block(node.orelse, sure)
            return derive(node, target=target, iter=iterable, body=body, orelse=orelse)
        if isinstance(node, gast.BoolOp):
            return derive(node, values=self._operands(node, sure, self._visit))
        if isinstance(node, (gast.Assign, gast.AnnAssign)):
            return self._assignment(node, sure)
        if isinstance(node, gast.Compare) and self._asks_for_none(node):
            return self._question(node, constant(True))
        if isinstance(node, gast.Return) and node.value is not None:
            return derive(node, value=self._returned(node.value, sure))
        if self._is_one(node) and isinstance(node.ctx, gast.Load):
            return replace(node, runtime_call("some" if node.id in sure else "known", node))
        return rebuild(node, lambda inner: self._visit(inner, sure))

    def _test(self, node: gast.expr, sure: frozenset[str]) -> gast.expr:
        """What only the truth of counts."""
        if isinstance(node, gast.BoolOp):
            return derive(node, values=self._operands(node, sure, self._test))
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            return derive(node, operand=self._test(node.operand, sure))
        asks = isinstance(node, gast.Compare) and self._asks_for_none(node)
        return self._question(node) if asks else self._visit(node, sure)

    def _question(self, node: gast.Compare, *as_value: gast.expr) -> gast.expr:
        question = runtime_call("is_nothing", node.left, *as_value)
        negated = gast.UnaryOp(op=gast.Not(), operand=question)
        return replace(node, question if isinstance(node.ops[0], gast.Is) else negated)

    def _either(self, node: gast.If | gast.While | gast.IfExp, sure: frozenset[str]) -> gast.AST:
        parts = self.block if isinstance(node, gast.stmt) else self._visit
        body = parts(node.body, sure | self._found(node.test, True))
        orelse = parts(node.orelse, sure | self._found(node.test, False))
        return derive(node, test=self._test(node.test, sure), body=body, orelse=orelse)

    def _operands(
        self, node: gast.BoolOp, sure: frozenset[str], visit: Callable[[gast.expr, frozenset[str]], gast.expr]
    ) -> list[gast.expr]:
        done = []
        for value in node.values:
            done.append(visit(value, sure))
            sure |= self._found(value, isinstance(node.op, gast.And))
        return done

    def _assignment(self, node: gast.Assign | gast.AnnAssign, sure: frozenset[str]) -> gast.stmt:
        targets = node.targets if isinstance(node, gast.Assign) else [node.target]
        if len(targets) == 1 and self._is_one(targets[0]) and self._is_one(node.value):
            return node  # handed on as it is
        nones = {id(none): target.id for target, none in _bound_to_none(node) if self._is_one(target)}

        def bind(inner: gast.AST) -> gast.AST:
            if id(inner) in nones:
                return replace(inner, runtime_call("nothing", constant(nones[id(inner)])))
            return rebuild(inner, bind) if isinstance(inner, gast.Tuple) else self._visit(inner, sure)

        return rebuild(node, bind)

    def _returned(self, value: gast.expr, sure: frozenset[str]) -> gast.expr:
        if isinstance(value, (gast.Tuple, gast.List)):
            return derive(value, elts=[self._returned(one, sure) for one in value.elts])
        if isinstance(value, gast.Dict):
            return derive(value, values=[self._returned(one, sure) for one in value.values])
        return replace(value, runtime_call("optional", value)) if self._is_one(value) else self._visit(value, sure)

    def _found(self, test: gast.expr, holds: bool) -> frozenset[str]:
        """The names that are not None where a test holds, or where it does not."""
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            return self._found(test.operand, not holds)
        if isinstance(test, gast.BoolOp) and isinstance(test.op, gast.And) == holds:
            return frozenset().union(*(self._found(value, holds) for value in test.values))
        if isinstance(test, gast.Compare) and self._asks_for_none(test):
            return frozenset([test.left.id] if isinstance(test.ops[0], gast.IsNot) == holds else [])
        return frozenset()

    def _is_one(self, node: gast.AST | None) -> bool:
        return isinstance(node, gast.Name) and node.id in self._names

    def _asks_for_none(self, node: gast.Compare) -> bool:
        """`name is None`, `name is not None`."""
        alone = len(node.ops) == 1 and isinstance(node.ops[0], (gast.Is, gast.IsNot))
        return alone and self._is_one(node.left) and is_none(node.comparators[0])
