"""Names that may be unbound where a branch or loop takes them over are declared first, and their reads are checked.

    for i in range(n):                     i = ag.undefined("i")
        x = x * i                          (x, i) = ag.for_loop(ag.range(n), ..., (x, i))
    return x, lambda: i                    return x, lambda: ag.free(i)

`ag.bound` raises UnboundLocalError, as Python does for the read of such a variable; `ag.free`, in a function inside,
NameError. Only names that the passes turn
into results or carries are concerned, and of their reads only those that Python itself could find unbound. `del i` of
such a name becomes `i = ag.undefined("i")`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.liveness import EMPTY, bound_after, bound_inside
from autograph_torch.analysis.scopes import SCOPES, binds, captured, names_of, parameters, sub_statements
from autograph_torch.source.nodes import derive, place, rebuild, replace
from autograph_torch.source.templates import assign, constant, name, runtime_call


def declare_undefined(
    function: gast.FunctionDef, body: list[gast.stmt], names: Iterable[str], facts: Facts
) -> list[gast.stmt]:
    """`body` with a declaration of each name at its start, behind a docstring and `global` statements."""
    wanted = dict.fromkeys([*names, *_lost(function, body)])
    facts.undefined.update(wanted)
    declared = [place(assign([n], runtime_call("undefined", constant(n))), function.body[0]) for n in wanted]
    at = 0
    while at < len(body) and _is_preamble(body[at]):
        at += 1
    return [*body[:at], *declared, *body[at:]]


def declare_handed(before: gast.FunctionDef, function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """What the functions made of expressions are given is read in front of them: `x + last if xs else x`."""
    own = names_of(before.body)
    names = (frozenset(facts.handed) & frozenset(own.binds)) - frozenset(own.outer) - frozenset(facts.undefined)
    looking = _Spelling(names, EMPTY)
    if names:
        looking.block(before.body, frozenset(parameters(before.args)))
    unsure = [name for name in facts.handed if name in looking.unsure]
    return derive(function, body=declare_undefined(before, function.body, unsure, facts)) if unsure else function


def _lost(function: gast.FunctionDef, body: list[gast.stmt]) -> list[str]:
    """Local variables that only functions made by a pass still bind: their reads elsewhere must not find a global."""
    names = names_of(function.body)
    local = [n for n in names.binds if n not in names.outer]
    at_root = {*binds(body), *parameters(function.args)}
    read_inside = captured(body)
    return [n for n in local if n in read_inside and n not in at_root]


def _is_preamble(node: gast.stmt) -> bool:
    if isinstance(node, (gast.Global, gast.Nonlocal)):
        return True
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant) and isinstance(node.value.value, str)


def spell_out_unbound(function: gast.FunctionDef, names: frozenset[str]) -> gast.FunctionDef:
    """Wrap reads that may find one of `names` or a deleted name unbound in ag.bound, and replace the `del` of it."""
    local = names_of(function.body)
    deleted = frozenset(n for n in local.deletes if n not in local.outer)
    spelling = _Spelling(names | deleted, deleted)
    body = spelling.block(function.body, frozenset(parameters(function.args)))
    gone = (names | spelling.unsure) & frozenset(local.deletes)
    body = _without_deletes(body, gone) if gone else body
    return function if body is function.body else derive(function, body=body)


class _Spelling:
    def __init__(self, names: frozenset[str], deleted: frozenset[str], check: str = "bound") -> None:
        self._names = names
        self._deleted = deleted
        self._check = check
        self.unsure: set[str] = set()

    def block(self, block: list[gast.stmt], bound: frozenset[str]) -> list[gast.stmt]:
        done: list[gast.stmt] = []
        for statement in block:
            if isinstance(statement, gast.Delete):
                done.extend(self._checked(n, statement) for n in names_of(statement).deletes if n not in bound)
            done.append(self._statement(statement, bound))
            bound = bound_after([statement], bound)
        return block if _is_same(block, done) else done

    def _checked(self, deleted: str, node: gast.Delete) -> gast.stmt:
        self.unsure.add(deleted)
        return replace(node, gast.Expr(value=runtime_call("bound", name(deleted))))

    def _statement(self, node: gast.stmt, bound: frozenset[str]) -> gast.stmt:
        if isinstance(node, gast.ClassDef):
            return node
        if isinstance(node, SCOPES):
            return self._function(node, bound)
        if not sub_statements(node):
            return self._reads(node, bound)
        return self._parts(node, bound)

    def _parts(self, node: Any, bound: frozenset[str]) -> Any:
        """A compound statement, handler or case: what it asks, and its blocks."""
        changes = {}
        for field, old in gast.iter_fields(node):
            # `:=`, `as` and patterns bind on the way.
            inside = bound if field in ("iter", "type") else bound_inside(node, field, bound)
            if field in ("handlers", "cases"):
                new: Any = [self._parts(arm, bound) for arm in old]
            elif isinstance(old, list) and old and isinstance(old[0], gast.stmt):
                new = self.block(old, inside)
            elif isinstance(old, list):
                new = [self._reads(one, inside) for one in old]
            else:
                new = self._reads(old, inside) if isinstance(old, gast.AST) else old
            if not _is_same(old, new):
                changes[field] = new
        return derive(node, **changes) if changes else node

    def _reads(self, node: Any, bound: frozenset[str]) -> Any:
        """What is read in an expression or a simple statement, also by lambdas when they are called."""

        def visit(child: gast.AST) -> gast.AST:
            if isinstance(child, gast.Name) and isinstance(child.ctx, gast.Load) and child.id in self._names - bound:
                self.unsure.add(child.id)
                return replace(child, runtime_call(self._check, child))
            if isinstance(child, gast.Lambda):
                arguments = self._reads(child.args, bound)
                body = self._inside(bound, parameters(child.args))._reads(child.body, frozenset())
                same = arguments is child.args and body is child.body
                return child if same else derive(child, args=arguments, body=body)
            return rebuild(child, visit)

        return visit(node)

    def _function(self, node: gast.FunctionDef, bound: frozenset[str]) -> gast.FunctionDef:
        """A function inside: its defaults and decorators are read here, its free variables when it is called."""
        names = names_of(node.body)
        own = {*parameters(node.args), *(n for n in names.binds if n not in names.outer), *names.outer}
        changes: dict[str, object] = {}
        if (arguments := self._reads(node.args, bound)) is not node.args:
            changes["args"] = arguments
        decorators = [self._reads(one, bound) for one in node.decorator_list]
        if not _is_same(node.decorator_list, decorators):
            changes["decorator_list"] = decorators
        if (body := self._inside(bound, own).block(node.body, frozenset())) is not node.body:
            changes["body"] = body
        return derive(node, **changes) if changes else node

    def _inside(self, bound: frozenset[str], own: Iterable[str]) -> _Spelling:
        """For a function or lambda in this one, made where `bound` are bound, with names of its own."""
        inside = _Spelling(self._names - (bound - self._deleted) - frozenset(own), self._deleted, "free")
        inside.unsure = self.unsure
        return inside


def _is_same(old: Any, new: Any) -> bool:
    """Whether a part of a statement, or each of a list of them, is the one from before."""
    return old is new or (isinstance(old, list) and len(old) == len(new) and all(map(operator.is_, old, new)))


def _without_deletes(block: list[gast.stmt], names: frozenset[str]) -> list[gast.stmt]:
    """`del i, xs[0]` becomes `i = ag.undefined("i")` and `del xs[0]`."""
    done: list[gast.stmt] = []
    for statement in block:
        if isinstance(statement, gast.Delete) and names & frozenset(names_of(statement).deletes):
            parts = [part for target in statement.targets for part in (getattr(target, "elts", None) or [target])]
            done.extend(replace(statement, _without_delete(part, names)) for part in parts)
            continue
        changes = {}
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            old = getattr(statement, field, None)
            if isinstance(old, list) and not isinstance(statement, SCOPES):
                new = _without_deletes(old, names)
                changes.update({field: new} if new != old else {})
        done.append(derive(statement, **changes) if changes else statement)
    return done


def _without_delete(target: gast.expr, names: frozenset[str]) -> gast.stmt:
    if isinstance(target, gast.Name) and target.id in names:
        return assign([target.id], runtime_call("undefined", constant(target.id)))
    return gast.Delete(targets=[target])
