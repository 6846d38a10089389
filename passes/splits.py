"""Statements that need what follows in both of their branches become an `if`, whose branches have room for it.

A trace has shown which (capture/attempts.py): torch's operators hand out copies, and what a conditional expression or a
loop gives may be a tensor from before, which is written to afterwards.

    y = x if p else x * 2                  if p:
    y += 1                                     y = x
                                           else:
                                               y = x * 2
                                           y += 1

    while p(y):                            if p(y):
        y = y * 2                              y = y * 2
    y += 1                                     while p(y):
                                                   y = y * 2
                                           y += 1

    last = None                            last = None
    for i in range(n):                     stop = n
        last = f(i, last)                  if stop > 0:
    return x                                   i = 0
                                               last = f(i, last)
                                               for i in range(1, stop):
                                                   last = f(i, last)
                                           return x

    return f(x), y if p else None          first = f(x)
                                           if p:
                                               return first, y
                                           else:
                                               return first, None

passes/jumps.py then moves what follows. A loop keeps its form when its body jumps or its test binds a name.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import gast

from autograph_torch.analysis.evaluation import parts, path_to
from autograph_torch.analysis.facts import Facts, Fresh
from autograph_torch.analysis.scopes import binds, exits
from autograph_torch.source.nodes import as_list, derive, name, place, rebuild, substitute, walk
from autograph_torch.source.templates import assign, constant, is_runtime_call


def make_room(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite the statements of a function that lie on the lines to be split."""
    if not facts.told.splits:
        return function

    def open_up(node: gast.AST) -> gast.AST | list[gast.stmt]:
        node = rebuild(node, open_up)
        if getattr(node, "lineno", None) not in facts.told.splits:
            return node
        if isinstance(node, (gast.Assign, gast.AnnAssign, gast.AugAssign, gast.Return, gast.Expr)):
            return choices_apart(node, facts)
        if isinstance(node, gast.While) and not node.orelse and not binds(node.test) and not exits(node.body):
            return place(gast.If(test=node.test, body=[*node.body, node], orelse=[]), node)
        if any(is_runtime_call(inner, "opened") for inner in walk(node)):  # that is what the trace has shown
            return node
        if isinstance(node, gast.For) and _over_range(node) and not node.orelse and not exits(node.body):
            return _first_trip_apart(node, facts)
        return node

    return rebuild(function, open_up)


def _over_range(node: gast.For) -> bool:
    """Whether a loop counts in steps of one from a number that the text shows."""
    call = node.iter
    if not (isinstance(call, gast.Call) and isinstance(call.func, gast.Name) and call.func.id == "range"):
        return False
    *start, _ = call.args or [call]
    return not call.keywords and bool(call.args) and [type(getattr(one, "value", None)) for one in start] in ([], [int])


def _first_trip_apart(node: gast.For, facts: Facts) -> list[gast.stmt]:
    """The first trip under an `if`, the others in a loop behind it."""
    start = node.iter.args[0].value if len(node.iter.args) > 1 else 0
    stop = facts.fresh("stop")
    bind = gast.Assign(targets=[node.target], value=constant(start), type_comment=None)
    others = derive(node, iter=derive(node.iter, args=[constant(start + 1), name(stop)]))
    test = gast.Compare(left=name(stop), ops=[gast.Gt()], comparators=[constant(start)])
    trips = gast.If(test=test, body=[bind, *node.body, others], orelse=[])
    return [place(one, node) for one in (assign([stop], node.iter.args[-1]), trips)]


def choices_apart(node: gast.stmt, facts: Facts) -> gast.stmt | list[gast.stmt]:
    """A statement with a conditional expression in it as an `if`; what is evaluated before it keeps its place."""
    if node.value is None:
        return node
    found = None if isinstance(node, gast.AugAssign) else path_to(node.value, _is_choice)
    if found is None:
        return _index_apart(node, facts)
    if binds(found[-1].test):
        return node
    choice = found[-1]
    first, known = evaluate_first(found, node, facts.fresh, lambda part: is_fixed(part, facts))

    def side(value: gast.expr) -> list[gast.stmt]:
        put = substitute(node.value, {**known, id(choice): value})
        return as_list(choices_apart(derive(node, value=put), facts))

    chosen = gast.If(test=choice.test, body=side(choice.body), orelse=side(choice.orelse))
    return [*first, place(chosen, node)]


def _index_apart(node: gast.stmt, facts: Facts) -> gast.stmt | list[gast.stmt]:
    """`counts[a if p else b] += 1`, likewise."""
    targets = node.targets if isinstance(node, gast.Assign) else [getattr(node, "target", None)]
    target = targets[0]
    if len(targets) > 1 or not isinstance(target, gast.Subscript) or not is_fixed(target.value, facts):
        return node
    found = path_to(target.slice, _is_choice)
    if found is None or binds(found[-1].test):
        return node
    choice, value = found[-1], node.value
    first, known = evaluate_first(found, node, facts.fresh, lambda part: is_fixed(part, facts))
    if isinstance(node, gast.Assign) and not is_fixed(value, facts):  # it is evaluated before the index
        kept = facts.fresh("first")
        first, value = [place(assign([kept], value), node), *first], name(kept)

    def side(chosen: gast.expr) -> list[gast.stmt]:
        put = derive(target, slice=substitute(target.slice, {**known, id(choice): chosen}))
        to = {"targets": [put]} if isinstance(node, gast.Assign) else {"target": put}
        return as_list(_index_apart(derive(node, value=value, **to), facts))

    chosen = gast.If(test=choice.test, body=side(choice.body), orelse=side(choice.orelse))
    return [*first, place(chosen, node)]


def _is_choice(part: gast.expr) -> bool:
    return isinstance(part, gast.IfExp)


def evaluate_first(
    path: list[gast.expr], node: gast.stmt, fresh: Fresh, is_fixed: Callable[[gast.expr], bool]
) -> tuple[list[gast.stmt], dict[int, gast.expr]]:
    """Statements for what is evaluated before the end of a path (analysis/evaluation.py), and names for these parts.

    is_fixed: whether a part may as well be evaluated later.
    """
    first: list[gast.stmt] = []
    known: dict[int, gast.expr] = {}
    for outer, part in pairwise(path):
        every = parts(outer)
        for before in every[: next(k for k, one in enumerate(every) if one is part)]:
            if not is_fixed(before):
                kept = fresh("first")
                first.append(place(assign([kept], before), node))
                known[id(before)] = name(kept)
    return first, known


def is_fixed(part: gast.expr, facts: Facts) -> bool:
    """Whether a part of an expression gives the same whatever is evaluated before it."""
    if isinstance(part, gast.Name) and part.id not in facts.rebound_by_calls:
        return True
    if isinstance(part, gast.Attribute) and isinstance(part.value, gast.Name) and part.value.id in facts.owned:
        return True  # a method of a container: kept under a name of its own, it would lead to it
    return isinstance(part, gast.Constant) or facts.kinds.torch_path(part) is not None
