"""Names that may be unbound where a branch or loop takes them over are declared first, and their reads are checked.

    for i in range(n):                     i = ag.undefined("i")
        x = x * i                          (x, i) = ag.for_loop(ag.range(n), ..., (x, i))
    return x, i                            return x, ag.bound(i)

`ag.bound` raises UnboundLocalError, as Python does for the read of such a variable. Only names that the passes turn
into results or carries are concerned, and of their reads only those that Python itself could find unbound.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.liveness import bound_after
from autograph_torch.analysis.scopes import SCOPES, binds, captured, names_of, parameters, sub_statements
from autograph_torch.source.nodes import derive, place, rebuild, replace
from autograph_torch.source.templates import assign, constant, runtime_call


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


def check_reads(function: gast.FunctionDef, names: frozenset[str]) -> gast.FunctionDef:
    """Wrap the reads of `names` that may find them unbound in ag.bound."""
    body = _block(function.body, frozenset(parameters(function.args)), names)
    return function if body is function.body else derive(function, body=body)


def _block(block: list[gast.stmt], bound: frozenset[str], names: frozenset[str]) -> list[gast.stmt]:
    done = []
    for statement in block:
        done.append(_statement(statement, bound, names - bound))
        bound = bound_after([statement], bound)
    return block if all(a is b for a, b in zip(block, done, strict=True)) else done


def _statement(node: gast.stmt, bound: frozenset[str], unsure: frozenset[str]) -> gast.stmt:
    if not unsure or isinstance(node, SCOPES):
        return node
    inner = bound
    if isinstance(node, gast.For):
        inner = bound | frozenset(binds(node.target))
    elif isinstance(node, (gast.While, gast.If)):
        inner = bound | frozenset(binds(node.test))

    def visit(child: gast.AST) -> gast.AST:
        if isinstance(child, gast.Name) and isinstance(child.ctx, gast.Load) and child.id in unsure:
            return replace(child, runtime_call("bound", child))
        if isinstance(child, gast.stmt):
            return _statement(child, inner, unsure - inner)
        return child if isinstance(child, (*SCOPES, gast.Lambda)) else rebuild(child, visit)

    if not sub_statements(node):
        return rebuild(node, visit)
    changes = {}
    for field in ("body", "orelse", "finalbody"):
        old = getattr(node, field, None)
        if isinstance(old, list) and old and (new := _block(old, inner, unsure)) is not old:
            changes[field] = new
    shell = {f: v for f in ("test", "iter") if (v := getattr(node, f, None)) is not None}
    changes.update({f: new for f, v in shell.items() if (new := visit(v)) is not v})
    return derive(node, **changes) if changes else node
