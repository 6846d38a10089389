"""Comprehensions that data decide in become loops, whose paths can be told apart.

    kept = [y for y in x if y.sum() > 1]   kept = []
    return torch.stack(kept, 1)            for y in x:
                                               if y.sum() > 1:
                                                   kept.append(y)
                                           return torch.stack(kept, 1)

    first = next((y for y in x if p(y)), None)
                                           first = None
                                           for y in x:
                                               if p(y):
                                                   first = y
                                                   break

A trace has shown which (capture/attempts.py): how many elements there are depends on data, or a call in it gives values
of different types (passes/open_calls.py). So are dicts, generators that `list`, `max` and the like take whole, and
`filter` there, in `sum` and in a `for`. What the statement evaluates before it keeps its place. A name that is used
elsewhere in the function, too, gets another in the loop: a comprehension has its own.

One in an arm of a conditional expression stands in that of an `if`. Left alone: a comprehension behind `and`, or one
with names that a function inside of it reads.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from autograph_torch.analysis.evaluation import path_to
from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import (
    COMPREHENSIONS,
    SCOPES,
    SUSPENDS,
    binds,
    captured,
    leaves_out,
    names_of,
    parameters,
    reads,
    walk_scope,
)
from autograph_torch.passes.open_calls import calls_of_users, open_in_trips
from autograph_torch.passes.splits import choices_apart, evaluate_first, is_fixed
from autograph_torch.source.nodes import as_list, derive, is_none, name, place, rebuild, replace, substitute, walk
from autograph_torch.source.templates import assign, call

_TAKE_ALL = ("list", "tuple", "max", "min", "sorted", "set", "dict")
_ONE_BY_ONE = ("sum", "any", "all")
_WITH_VALUE = (gast.Assign, gast.AnnAssign, gast.AugAssign, gast.Return, gast.Expr)


def unroll_filters(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite the comprehensions on the lines that a trace has shown."""
    told = facts.told.splits | facts.told.growing
    if not told:
        return function

    shared = _shared(function)

    def decides(node: gast.AST) -> bool:
        of_kind = isinstance(node, (gast.ListComp, gast.DictComp)) and _has_form(node)
        return (of_kind or _is_first(node, facts)) and _is_told(node, told)

    def unroll(node: gast.AST) -> gast.AST | list[gast.stmt]:
        if isinstance(node, SCOPES) or facts.is_skipped(node):
            return node
        node = _taken_whole(rebuild(node, unroll), facts)
        if isinstance(node, gast.For) and node.lineno in told:
            node = _tested(node, facts)
        field = "value" if isinstance(node, _WITH_VALUE) else "iter" if isinstance(node, gast.For) else ""
        return unrolled(node, field) if field and getattr(node, field) is not None else node

    def unrolled(node: gast.stmt, field: str) -> gast.AST | list[gast.stmt]:
        value = getattr(node, field)
        path = path_to(value, decides)
        if isinstance(node, gast.AugAssign) and not is_fixed(node.target, facts):  # it is read before the value is
            return node
        if path is None:
            chosen = not isinstance(node, (gast.AugAssign, gast.For)) and any(map(decides, walk(value)))
            apart = choices_apart(node, facts) if chosen else node
            return node if apart is node else [new for one in as_list(apart) for new in as_list(unroll(one))]
        comprehension, own = path[-1], _bound_name(node, path[-1], shared)
        kept = own or facts.fresh("kept")
        first, known = evaluate_first(path, node, facts.fresh, lambda part: is_fixed(part, facts))
        put = substitute(value, {**known, id(comprehension): name(kept)})
        others = [] if own else unrolled(derive(node, **{field: put}), field)
        loop = _search if isinstance(comprehension, gast.Call) else _loop
        return [*first, *loop(comprehension, kept, facts), *as_list(others)]

    return rebuild(function, unroll)


def _shared(function: gast.FunctionDef) -> set[str]:
    """Names that others may look at while the loop runs: functions, or what handles an exception."""
    nodes = list(walk_scope(function.body))
    if any(isinstance(node, gast.Try) for node in nodes):
        return set(parameters(function.args)) | set(binds(function.body))
    return captured(function.body) | set(names_of(function.body).outer)


def _bound_name(node: gast.stmt, comprehension: gast.expr, shared: set[str]) -> str | None:
    """The name that the comprehension is bound to, where nobody can tell that it is filled one by one."""
    target = node.targets[0] if isinstance(node, gast.Assign) and len(node.targets) == 1 else None
    if not isinstance(target, gast.Name) or node.value is not comprehension:
        return None
    return None if target.id in shared | reads(comprehension) else target.id


def _is_told(node: gast.expr, told: frozenset[int]) -> bool:
    return not told.isdisjoint(getattr(inner, "lineno", None) for inner in walk(node))


def _has_form(node: gast.ListComp | gast.DictComp) -> bool:
    """Whether a comprehension leaves elements out, or calls functions of the user's, and a loop does the same."""
    if not (leaves_out(node) or calls_of_users(node)) or any(one.is_async for one in node.generators):
        return False
    inside, bound = list(walk(node)), set(_bound(node))
    if binds(node) or any(isinstance(one, SUSPENDS) for one in inside):
        return False
    if any(isinstance(one, gast.Lambda) and bound & (reads(one) | set(binds(one.args))) for one in inside):
        return False
    others = (one for one in inside if isinstance(one, COMPREHENSIONS) and one is not node)
    return not any(bound & set(_bound(one)) for one in others)


def _is_first(node: gast.AST, facts: Facts) -> bool:
    """Whether it is `next(... for ... if ...)`, with something else, that calls nothing, where there is none."""
    if not isinstance(node, gast.Call) or node.keywords or not facts.kinds.is_builtin(node.func, ("next",)):
        return False
    if not 1 <= len(node.args) <= 2 or not isinstance(node.args[0], gast.GeneratorExp) or not _has_form(node.args[0]):
        return False
    if len(node.args[0].generators) > 1:
        return False
    return not any(isinstance(inner, (gast.Call, gast.NamedExpr)) for other in node.args[1:] for inner in walk(other))


def _search(node: gast.Call, kept: str, facts: Facts) -> list[gast.stmt]:
    """Statements that put into `kept` the first element of a generator, or the other argument of `next`."""

    def found(element: gast.expr) -> list[gast.stmt]:
        return [assign([kept], element), gast.Break()]

    loop = _over(node.args[0], found, facts)
    if len(node.args) > 1:
        default: gast.stmt = place(assign([kept], node.args[1]), node)
        if is_fixed(loop.iter, facts) or is_fixed(node.args[1], facts):
            return [default, loop]
        elements = facts.fresh("elements")  # making them may change what the other argument reads
        return [place(assign([elements], loop.iter), node), default, derive(loop, iter=name(elements))]
    nothing = gast.Raise(exc=name("StopIteration"), cause=None)
    return [derive(loop, orelse=[place(nothing, node)])]


def _bound(node: gast.expr) -> list[str]:
    return [one for generator in node.generators for one in binds(generator.target)]


def _taken_whole(node: gast.AST, facts: Facts) -> gast.AST:
    """`max(f(y) for y in x if p(y))` -> `max([f(y) for y in x if p(y)])`; `list(filter(p, x))`, too."""
    whole = isinstance(node, gast.Call) and len(node.args) == 1
    if not whole or not facts.kinds.is_builtin(node.func, (*_TAKE_ALL, *_ONE_BY_ONE)):
        return node
    only = _filtered(node.args[0], facts)
    if not isinstance(only, gast.GeneratorExp) or not _has_form(only):
        return node
    if node.func.id in _ONE_BY_ONE:
        return derive(node, args=[only])
    return derive(node, args=[replace(only, gast.ListComp(elt=only.elt, generators=only.generators))])


def _filtered(node: gast.expr, facts: Facts) -> gast.expr:
    """`filter(lambda y: p(y), x)` -> `(y for y in x if p(y))`"""
    each = facts.fresh("each") if isinstance(node, gast.Call) else ""
    found = _filter(node, each, facts)
    if found is None:
        return node
    target = gast.Name(id=each, ctx=gast.Store(), annotation=None, type_comment=None)
    generator = gast.comprehension(target=target, iter=found[1], ifs=[found[0]], is_async=0)
    return replace(node, gast.GeneratorExp(elt=name(each), generators=[generator]))


def _filter(node: gast.expr, element: str, facts: Facts) -> tuple[gast.expr, gast.expr] | None:
    """The test that a call of `filter` makes of an element with this name, and what it goes through."""
    if not (isinstance(node, gast.Call) and facts.kinds.is_builtin(node.func, ("filter",)) and len(node.args) == 2):
        return None
    function, iterable = node.args
    if is_none(function):
        return name(element), iterable
    if isinstance(function, gast.Name):
        return call(function, name(element)), iterable
    if not isinstance(function, gast.Lambda) or len(function.args.args) != 1 or function.args.defaults:
        return None
    own = function.args.args[0].id
    if parameters(function.args) != [own] or any(isinstance(one, SCOPES) for one in walk(function.body)):
        return None

    def renamed(one: gast.AST) -> gast.AST:
        return derive(one, id=element) if isinstance(one, gast.Name) and one.id == own else rebuild(one, renamed)

    return renamed(function.body), iterable


def _tested(loop: gast.For, facts: Facts) -> gast.For:
    """`for y in filter(p, x): ...` -> a loop over `x`, and its body under `if p(each):`"""
    each = facts.fresh("each") if isinstance(loop.iter, gast.Call) else ""
    found = _filter(loop.iter, each, facts)
    if found is None or _binds_function(loop):
        return loop
    target = gast.Name(id=each, ctx=gast.Store(), annotation=None, type_comment=None)
    bind = gast.Assign(targets=[loop.target], value=name(each), type_comment=None)
    body = place(gast.If(test=found[0], body=[place(bind, loop), *loop.body], orelse=[]), loop)
    return derive(loop, target=place(target, loop), iter=found[1], body=[body])


def _binds_function(loop: gast.For) -> bool:
    """Whether a loop over `filter(p, x)` binds `p` anew, which `filter` does not see."""
    function = loop.iter.args[0]
    return isinstance(function, gast.Name) and function.id in binds(loop)


def _loop(node: gast.ListComp | gast.DictComp, kept: str, facts: Facts) -> list[gast.stmt]:
    """Statements that put into `kept` what the comprehension gives."""
    is_list = isinstance(node, gast.ListComp)
    empty = gast.List(elts=[], ctx=gast.Load()) if is_list else gast.Dict(keys=[], values=[])
    loop = _over(node, lambda *element: [_kept(kept, *element)], facts)
    return [place(assign([kept], empty), node), loop]


def _over(node: gast.expr, use: Callable[..., list[gast.stmt]], facts: Facts) -> gast.For:
    """The loop over what a comprehension goes through; `use` makes statements of an element (of a key and a value)."""
    names = _own_names(node, facts)

    def renamed(one: gast.AST) -> gast.AST:
        if isinstance(one, gast.Name) and one.id in names:
            return derive(one, id=names[one.id])
        return rebuild(one, renamed)

    parts = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
    block = [place(one, node) for one in use(*map(renamed, parts))]
    if not leaves_out(node):
        block = open_in_trips(block, facts)
    for generator in reversed(node.generators):
        if generator.ifs:
            tests = [renamed(test) for test in generator.ifs]
            test = tests[0] if len(tests) == 1 else gast.BoolOp(op=gast.And(), values=tests)
            block = [place(gast.If(test=test, body=block, orelse=[]), generator.ifs[0])]
        iterable = generator.iter if generator is node.generators[0] else renamed(generator.iter)
        target = renamed(generator.target)
        loop = gast.For(target=target, iter=iterable, body=block, orelse=[], type_comment=None)
        block = [place(loop, node)]
    (outermost,) = block
    return outermost


def _kept(kept: str, *element: gast.expr) -> gast.stmt:
    """The statement that adds one element. (A dict evaluates the key before the value; an assignment does not.)"""
    if len(element) == 1:
        method, added = "append", element[0]
    elif any(isinstance(one, (gast.Name, gast.Constant)) for one in element):
        entry = gast.Subscript(value=name(kept), slice=element[0], ctx=gast.Store())
        return gast.Assign(targets=[entry], value=element[1], type_comment=None)
    else:
        method, added = "update", gast.Dict(keys=[element[0]], values=[element[1]])
    return gast.Expr(value=call(gast.Attribute(value=name(kept), attr=method, ctx=gast.Load()), added))


def _own_names(node: gast.expr, facts: Facts) -> dict[str, str]:
    """Other names for those that the comprehension binds, where they are used elsewhere in the function, too."""
    inside = {id(one) for one in walk(node)} - {id(one) for one in walk(node.generators[0].iter)}
    elsewhere = {one.id for one in walk(facts.function) if isinstance(one, gast.Name) and id(one) not in inside}
    return {one: facts.fresh(one) for one in _bound(node) if one in elsewhere}
