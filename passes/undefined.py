"""Names that may be unbound where a branch or loop takes them over are declared first, and their reads are checked.

    for i in range(n):                     i = ag.undefined("i")
        x = x * i                          (x, i) = ag.for_loop(ag.range(n), ..., (x, i))
    return x, i                            return x, ag.bound(i)

`ag.bound` raises UnboundLocalError, as Python does for the read of such a variable. Only names that the passes turn
into results or carries are concerned, and of their reads only those that Python itself could find unbound. `del i` of
such a name becomes `i = ag.undefined("i")`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.liveness import bound_after, bound_inside
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
    spelling = _Spelling(names | frozenset(n for n in local.deletes if n not in local.outer))
    body = spelling.block(function.body, frozenset(parameters(function.args)))
    gone = (names | spelling.unsure) & frozenset(local.deletes)
    body = _without_deletes(body, gone) if gone else body
    return function if body is function.body else derive(function, body=body)


class _Spelling:
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self.unsure: frozenset[str] = frozenset()

    def block(self, block: list[gast.stmt], bound: frozenset[str]) -> list[gast.stmt]:
        done: list[gast.stmt] = []
        for statement in block:
            if isinstance(statement, gast.Delete):
                done.extend(self._checked(n, statement) for n in names_of(statement).deletes if n not in bound)
            done.append(self._statement(statement, bound))
            bound = bound_after([statement], bound)
        return block if len(block) == len(done) and all(map(operator.is_, block, done)) else done

    def _checked(self, deleted: str, node: gast.Delete) -> gast.stmt:
        self.unsure |= {deleted}
        return replace(node, gast.Expr(value=runtime_call("bound", name(deleted))))

    def _statement(self, node: gast.stmt, bound: frozenset[str]) -> gast.stmt:
        if isinstance(node, SCOPES):
            return node
        inner = bound_inside(node, "body", bound)

        def visit(child: gast.AST) -> gast.AST:
            if isinstance(child, gast.Name) and isinstance(child.ctx, gast.Load) and child.id in self._names - bound:
                self.unsure |= {child.id}
                return replace(child, runtime_call("bound", child))
            if isinstance(child, gast.stmt):
                return self._statement(child, inner)
            return child if isinstance(child, (*SCOPES, gast.Lambda)) else rebuild(child, visit)

        if not sub_statements(node):
            return rebuild(node, visit)
        changes = {}
        for field in ("body", "orelse", "finalbody"):
            old = getattr(node, field, None)
            if isinstance(old, list) and old and (new := self.block(old, inner)) is not old:
                changes[field] = new
        shell = {f: v for f in ("test", "iter") if (v := getattr(node, f, None)) is not None}
        changes.update({f: new for f, v in shell.items() if (new := visit(v)) is not v})
        return derive(node, **changes) if changes else node


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
