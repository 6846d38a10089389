"""Comprehensions whose filter data decide become the loops that they stand for.

    kept = [f(e) for e in xs if e > 0]     kept = []
    return torch.stack(kept)               for e_2 in xs:
                                               if e_2 > 0:
                                                   kept.append(f(e_2))
                                           return torch.stack(kept)

A trace has shown which (capture/attempts.py). It comes before all passes, which then see a list that grows under a
test. The comprehension may be a part of the statement, where nothing but names and constants is evaluated before it;
so may a generator that `list` or `tuple` takes.

Left alone: comprehensions with lambdas, `:=` or `await` in them.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Fresh
from autograph_torch.analysis.scopes import SUSPENDS, binds, captured, names_of, parameters, reads, walk_scope
from autograph_torch.passes.open_calls import parts_in_order, with_part
from autograph_torch.source.nodes import derive, name, place, rebuild, walk
from autograph_torch.source.templates import assign, call

_STATEMENTS = (gast.Assign, gast.AnnAssign, gast.AugAssign, gast.Return, gast.Expr)
_COMPREHENSIONS = (gast.ListComp, gast.GeneratorExp, gast.SetComp, gast.DictComp)
_TAKE_GENERATORS = ("list", "tuple")


def open_comprehensions(function: gast.FunctionDef, lines: frozenset[int]) -> gast.FunctionDef:
    """Rewrite the filtered comprehensions of a function that stand on these lines."""
    if not lines:
        return function
    nodes = list(walk(function))
    taken = {node.id for node in nodes if isinstance(node, gast.Name)} | set(binds(function.body))
    fresh = Fresh(taken | set(parameters(function.args)))
    shared = captured(function.body) | set(names_of(function.body).outer)
    if any(isinstance(node, gast.Try) for node in walk_scope(function.body)):
        shared |= taken  # what handles an exception may see what a name was before

    def open_up(node: gast.AST) -> gast.AST | list[gast.stmt]:
        node = rebuild(node, open_up)
        if isinstance(node, _STATEMENTS) and not lines.isdisjoint(range(node.lineno, (node.end_lineno or 0) + 1)):
            return _opened(node, frozenset(shared), fresh)
        return node

    return rebuild(function, open_up)


def _opened(node: gast.stmt, shared: frozenset[str], fresh: Fresh) -> gast.stmt | list[gast.stmt]:
    """The loop, and the statement with the list in the place of the comprehension."""
    found = _first(node.value, shared)[0] if node.value is not None else None
    if found is None or (isinstance(node, gast.AugAssign) and not isinstance(node.target, gast.Name)):
        return node
    bound = _bound_name(node) if found is node.value else None
    is_named = bound is not None and bound not in shared | reads([found])
    kept = bound if bound is not None and is_named else fresh("kept")
    loop = place(_loop(found, kept, fresh), node)
    empty = place(assign([kept], gast.List(elts=[], ctx=gast.Load())), node)
    rest = [] if is_named else _opened(derive(node, value=with_part(node.value, found, name(kept))), shared, fresh)
    return [empty, loop, *(rest if isinstance(rest, list) else [rest])]


def _bound_name(node: gast.stmt) -> str | None:
    targets = node.targets if isinstance(node, gast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], gast.Name) else None


def _loop(found: gast.ListComp | gast.GeneratorExp, kept: str, fresh: Fresh) -> gast.For:
    """Its names are local to a comprehension, so they become others."""
    own = {one: fresh(one) for one in _targets(found)}

    def renamed(node: gast.AST) -> gast.AST:
        if isinstance(node, gast.Name) and node.id in own:
            return derive(node, id=own[node.id])
        return rebuild(node, renamed)

    add = call(gast.Attribute(value=name(kept), attr="append", ctx=gast.Load()), renamed(found.elt))
    body: gast.stmt = place(gast.Expr(value=add), found.elt)
    for index, generator in reversed(list(enumerate(found.generators))):
        for test in reversed(generator.ifs):
            body = place(gast.If(test=renamed(test), body=[body], orelse=[]), test)
        over = renamed(generator.iter) if index else generator.iter  # the first is evaluated outside
        loop = gast.For(target=renamed(generator.target), iter=over, body=[body], orelse=[], type_comment=None)
        body = place(loop, generator.iter)
    return body


def _targets(found: gast.expr) -> list[str]:
    targets = (node for generator in found.generators for node in walk(generator.target))
    return list(dict.fromkeys(node.id for node in targets if isinstance(node, gast.Name)))


def _first(node: gast.AST | None, shared: frozenset[str]) -> tuple[gast.expr | None, bool]:
    """The comprehension that is evaluated first, and whether there is none, and only names and constants are."""
    if isinstance(node, gast.ListComp) and _is_filtered(node):
        return node, False
    if node is None or isinstance(node, (gast.Constant, gast.Name)):
        return None, not isinstance(node, gast.Name) or node.id not in shared
    if _takes_a_generator(node) and _is_filtered(node.args[0]):
        return node.args[0], False
    for part in parts_in_order(node):
        found, plain = _first(part, shared)
        if found is not None or not plain:
            return found, False
    return None, isinstance(node, (gast.Tuple, gast.List, gast.Dict))


def _takes_a_generator(node: gast.AST) -> bool:
    if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in _TAKE_GENERATORS):
        return False
    return len(node.args) == 1 and isinstance(node.args[0], gast.GeneratorExp) and not node.keywords


def _is_filtered(found: gast.ListComp | gast.GeneratorExp) -> bool:
    """Whether it has a test, and the loop would do the same."""
    inside = [node for node in walk(found) if node is not found]
    nested = [node for node in inside if isinstance(node, _COMPREHENSIONS)]
    return (
        any(generator.ifs for generator in found.generators)
        and not any(generator.is_async for generator in found.generators)
        and not any(isinstance(node, (gast.Lambda, gast.NamedExpr, *SUSPENDS)) for node in inside)
        and all(isinstance(one, (gast.Name, gast.Tuple)) for generator in found.generators for one in _parts(generator))
        and not set(_targets(found)) & {one for inner in nested for one in _targets(inner)}
    )


def _parts(generator: gast.comprehension) -> list[gast.AST]:
    """What stands in the target, contexts apart."""
    return [node for node in walk(generator.target) if isinstance(node, gast.expr)]
