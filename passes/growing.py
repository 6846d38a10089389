"""Lists that a loop on data appends to become lists that the runtime can count (runtime/growing.py).

    xs = [x]                               xs = [x]
    while x > 1:                           xs = ag.growing_list(xs)
        x = x / 2                          while x > 1:
        xs.append(x)                           x = x / 2
    return torch.stack(xs), len(xs)            xs.append(x)
                                           return ag.stacked(xs), ag.length(xs)

A trace has shown which loops these are (capture/attempts.py). The list must be a local variable that is bound once, to
a display, and everything that is done with it must be one of these:

    xs.append(y)        len(xs), sum(xs)        torch.stack(xs), torch.cat(xs)      return xs, {"all": xs}
    xs += [y, z]        max(xs), min(xs)        torch.tensor(xs)                    for y in xs, in enumerate(xs),
    xs = xs + [y]       xs[-1], xs[0]           if xs:                                  zip(xs, ys) or reversed(xs)

A comprehension over it is another such list: `torch.stack([y * 2 for y in xs])`. What `any` and `all` are given of it
is asked of one element after the other: `any(y > 2 for y in xs)`.

Where the number of trips is known and data decide in a trip whether it adds to the list, the trace does not follow them
one by one: there would be too many ways to the end.

    for i, y in enumerate(x):              for i, y in ag.rolled(ag.enumerate(x)):
        if y > 0:                              if y > 0:
            xs.append(y)                           xs.append(y)
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import (
    LOOPS,
    SCOPES,
    SUSPENDS,
    binds,
    captured,
    names_of,
    parameters,
    reads,
    sub_statements,
    walk_scope,
)
from autograph_torch.source.nodes import derive, name, place, rebuild, replace, walk
from autograph_torch.source.templates import assign, call, constant, runtime_call, thunk, tuple_of

OVER_ALL = {"stack": "stacked", "cat": "concatenated", "concat": "concatenated"}
OF_ALL = {"sum": "total", "max": "largest", "min": "smallest"}
QUANTIFIERS = {"any": "some_hold", "all": "all_hold"}
ITERATORS = ("enumerate", "zip", "reversed")
_ITERATORS_OF_THE_RUNTIME = ("range", *ITERATORS)

# A use of a list: the name in it, and what is written in the place of what.
Use = tuple[gast.Name, gast.AST, gast.AST]


def lower_growing(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite the uses of the lists that grow in the loops on these lines."""
    if not facts.told.growing:
        return function
    nodes = list(walk_scope(function.body))
    loops = {id(node): _added_to(node) for node in nodes if isinstance(node, LOOPS) and _is_told(node, facts)}
    names = {n for added in loops.values() for n in added}
    hidden = {*parameters(function.args), *names_of(function.body).outer, *captured(function.body)}
    hidden |= {n for node in nodes if isinstance(node, gast.For) for n in _replaced_while_iterated(node)}
    uses = [use for node in nodes for use in uses_of_lists(node, facts) if use[0].id in names - hidden]
    known = {id(use[0]) for use in uses}
    unknown = {node.id for node in nodes if isinstance(node, gast.Name) and id(node) not in known}
    bound = [one.id for one, old, _ in uses if one is old and not isinstance(one.ctx, gast.Load)]
    eligible = {n for n in names - hidden - unknown if bound.count(n) == 1}
    written = {id(old): new for one, old, new in uses if one.id in eligible and old is not new}
    rolled = {id(node) for node in nodes if isinstance(node, gast.For) and _decides_inside(node.body, facts)}

    def rewrite(node: gast.AST, growing: frozenset[str] = frozenset()) -> gast.AST | list[gast.AST]:
        if isinstance(node, SCOPES) and id(node) not in written:
            return node
        new = written.get(id(node))
        if new is not None:  # which has the name in it
            return replace(node, new if isinstance(node, gast.Name) else rebuild(new, lambda inner: rewrite(inner)))
        grow = sorted((loops.get(id(node), set()) & eligible) - growing)
        done = rebuild(node, lambda inner: rewrite(inner, growing.union(grow)))
        if id(node) in rolled:
            done = derive(done, iter=replace(node.iter, runtime_call("rolled", _of_the_runtime(done.iter, facts))))
        before = [place(assign([n], runtime_call("growing_list", name(n))), node) for n in grow]
        return [*before, done] if grow else done

    return rebuild(function, lambda node: rewrite(node)) if eligible or rolled else function


def _is_told(loop: gast.AST, facts: Facts) -> bool:
    """Whether a trace has failed at this loop, or in it."""
    return any(getattr(node, "lineno", None) in facts.told.growing for node in walk(loop))


def _decides_inside(block: list[gast.AST], facts: Facts) -> bool:
    """Whether a trace has failed at a statement in a block, which is in no loop in there."""
    return any(
        not isinstance(node, (*LOOPS, *SCOPES))
        and (getattr(node, "lineno", None) in facts.told.growing or _decides_inside(sub_statements(node), facts))
        for node in block
    )


def _of_the_runtime(iterable: gast.expr, facts: Facts) -> gast.expr:
    """`enumerate(x)` -> `ag.enumerate(x)`, which tells of elements by their positions."""
    if not facts.kinds.is_builtin(getattr(iterable, "func", None), _ITERATORS_OF_THE_RUNTIME):
        return iterable
    arguments = [_of_the_runtime(one, facts) for one in iterable.args]
    return replace(iterable, derive(iterable, func=runtime_call(iterable.func.id).func, args=arguments))


def _added_to(loop: gast.AST) -> set[str]:
    """The names of lists from before a loop that it adds to."""
    nodes = list(walk(loop))
    added = [one for node in nodes for one, *_ in _additions(node)]
    targets = {id(one) for one in added}
    stored = [node for node in nodes if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load)]
    return {one.id for one in added} - {one.id for one in stored if id(one) not in targets}


def _replaced_while_iterated(loop: gast.For) -> list[str]:
    """Lists that a loop runs over, and that are others in its body (`xs = xs + [y]`)."""
    iterated = reads([loop.iter])
    targets = [node.targets[0].id for node in walk(loop) if isinstance(node, gast.Assign) and is_longer(node)]
    return [n for n in targets if n in iterated]


def uses_of_lists(node: gast.AST, facts: Facts) -> list[Use]:
    """What a node does with a list that it names, where we know how to."""
    if isinstance(node, (gast.Assign, gast.AnnAssign)) and not _additions(node):
        return [(one,) * 3 for one, _ in bound_to_displays(node, lambda value: _is_display(value, facts))]
    elif isinstance(node, (gast.Expr, gast.AugAssign, gast.Assign)):
        return _additions(node)
    elif isinstance(node, gast.Call):
        return _calls(node, facts)
    elif isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Load) and whole(node.slice) is not None:
        return [(one, node, runtime_call("element", one, node.slice)) for one in _names([node.value])]
    elif isinstance(node, gast.For):
        return [(one, one, runtime_call("elements_of", one)) for one in _names([node.iter])]
    elif isinstance(node, (gast.If, gast.While, gast.IfExp)):
        return [(one, one, _is_filled(one)) for one in _names([node.test])]
    elif isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
        return [(one, one, _is_filled(one)) for one in _names([node.operand])]
    elif isinstance(node, gast.Return) and node.value is not None:
        return [use for part in _returned(node.value) for use in _whole_lists(part, part, "listed", facts)]
    return []


def bound_to_displays(
    node: gast.Assign | gast.AnnAssign, is_new: Callable[[gast.expr | None], bool]
) -> list[tuple[gast.Name, gast.expr]]:
    """The names that an assignment binds to a new list each, with what they are bound to."""
    only = node.target if isinstance(node, gast.AnnAssign) else node.targets[0] if len(node.targets) == 1 else None
    pairs = [(only, node.value)]
    if isinstance(only, gast.Tuple) and isinstance(node.value, gast.Tuple) and len(only.elts) == len(node.value.elts):
        pairs = [] if _starred([*only.elts, *node.value.elts]) else list(zip(only.elts, node.value.elts, strict=True))
    return [(target, value) for target, value in pairs if isinstance(target, gast.Name) and is_new(value)]


def _is_display(value: gast.expr | None, facts: Facts) -> bool:
    if isinstance(value, gast.Call):
        return facts.kinds.is_builtin(value.func, ("list",)) and not value.args and not value.keywords
    return isinstance(value, gast.List) and not _starred(value.elts)


def _additions(node: gast.AST) -> list[Use]:
    """`xs.append(y)`, `xs.extend([y, z])`, `xs += [y, z]`, `xs = xs + [y]`."""
    if isinstance(node, gast.Expr) and _is_method(node.value, "append"):
        return [(node.value.func.value,) * 3]
    if isinstance(node, gast.Expr) and _is_method(node.value, "extend") and is_given(node.value.args[0]):
        return [(node.value.func.value,) * 3]
    if isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add) and is_given(node.value):
        return [(one, node, _extended(one, node.value)) for one in _names([node.target])]
    if isinstance(node, gast.Assign) and is_longer(node):
        (target,) = node.targets
        return [(target, node, _extended(target, node.value.right)), (node.value.left,) * 3]
    return []


def _extended(target: gast.Name, items: gast.expr) -> gast.Expr:
    method = gast.Attribute(value=name(target.id), attr="extend", ctx=gast.Load())
    return gast.Expr(value=call(method, items))


def is_longer(node: gast.Assign) -> bool:
    """`xs = xs + [y]`: nobody else has the list, so that it may as well be the same one."""
    value = node.value
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Add) or len(node.targets) > 1:
        return False
    named = _names([node.targets[0], value.left])
    return len(named) == 2 and named[0].id == named[1].id and is_given(value.right)


def is_given(items: gast.expr) -> bool:
    """Whether the text shows one element after the other."""
    return isinstance(items, (gast.List, gast.Tuple)) and not _starred(items.elts)


def _calls(node: gast.Call, facts: Facts) -> list[Use]:
    path = facts.kinds.torch_path(node.func)
    if path in OVER_ALL and node.args and has_dimension(node):
        named = {one.arg: one.value for one in node.keywords}
        return _whole_lists(node.args[0], node, OVER_ALL[path], facts, *node.args[1:], **named)
    if len(node.args) == 1 and not node.keywords:
        if path == "tensor":
            return _whole_lists(node.args[0], node, "tensor_of", facts)
        if facts.kinds.is_builtin(node.func, ("len",)):
            return [(one, node, runtime_call("length", one)) for one in _names(node.args)]
        if facts.kinds.is_builtin(node.func, tuple(OF_ALL)):
            return _whole_lists(node.args[0], node, OF_ALL[node.func.id], facts)
        if facts.kinds.is_builtin(node.func, tuple(QUANTIFIERS)):
            return _quantified(node.args[0], node, facts)
    if facts.kinds.is_builtin(node.func, ITERATORS):
        return [(one, one, runtime_call("elements_of", one)) for one in _names(node.args)]
    return []


def _whole_lists(
    value: gast.expr, old: gast.expr, function: str, facts: Facts, *more: gast.expr, **named: gast.expr
) -> list[Use]:
    """What takes all of a list: a name, or a comprehension over one."""
    if isinstance(value, gast.Name):
        return [(value, old, runtime_call(function, value, *more, **named))]
    mapped = _mapped(value, facts)
    if mapped is None:
        return []
    return [(value.generators[0].iter, old, runtime_call(function, mapped, *more, **named))]


def _quantified(value: gast.expr, old: gast.Call, facts: Facts) -> list[Use]:
    """`any(f(y) for y in xs)`."""
    found = _function_of_each(value, facts)
    return [] if found is None else [(found[0], old, runtime_call(QUANTIFIERS[old.func.id], *found))]


def _mapped(value: gast.expr, facts: Facts) -> gast.Call | None:
    """`[f(y) for y in xs]` as a list of the runtime."""
    found = _function_of_each(value, facts)
    return None if found is None else runtime_call("mapped", *found)


def _function_of_each(value: gast.expr, facts: Facts) -> list[gast.expr] | None:
    """What `mapping` gives, for a list that a name leads to."""
    found = mapping(value, facts)
    if found is None or not isinstance(found[0], gast.Name) or found[0].id in reads([value.elt]):
        return None
    return None if isinstance(value.generators[0].target, gast.Tuple) else found


def mapping(value: gast.expr, facts: Facts) -> list[gast.expr] | None:
    """What `[f(y) for y in xs]` runs over, its function, and what that is handed."""
    if not isinstance(value, (gast.ListComp, gast.GeneratorExp)) or len(value.generators) > 1:
        return None
    (generator,) = value.generators
    inside = [*walk(value.elt)]
    targets = generator.target.elts if isinstance(generator.target, gast.Tuple) else [generator.target]
    if len(_names(targets)) < len(targets) or generator.ifs or generator.is_async or binds(value.elt):
        return None
    if any(isinstance(one, SUSPENDS) for one in inside):
        return None
    bound = [one.id for one in targets]
    handed = facts.handed_over(sorted(reads([value.elt]) - set(bound)))
    function = thunk(value.elt, [*bound, *handed])
    return [generator.iter, function, *([tuple_of(handed)] if handed else [])]


def _is_filled(one: gast.Name) -> gast.Compare:
    return gast.Compare(left=runtime_call("length", one), ops=[gast.Gt()], comparators=[constant(0)])


def _returned(value: gast.expr) -> list[gast.expr]:
    """The lists among the parts of a value that is returned."""
    if isinstance(value, (gast.Tuple, gast.List)):
        return [one for part in value.elts for one in _returned(part)]
    if isinstance(value, gast.Dict):
        return [one for part in value.values for one in _returned(part)]
    return [value] if isinstance(value, (gast.Name, gast.ListComp)) else []


def _names(nodes: list[gast.expr]) -> list[gast.Name]:
    return [node for node in nodes if isinstance(node, gast.Name)]


def _is_method(node: gast.expr, method: str) -> bool:
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute) or node.func.attr != method:
        return False
    return isinstance(node.func.value, gast.Name) and len(node.args) == 1 and not _starred(node.args)


def _starred(nodes: list[gast.expr]) -> bool:
    return any(isinstance(node, gast.Starred) for node in nodes)


def has_dimension(node: gast.Call) -> bool:
    """Whether nothing but the dimension is given beside the list, and that as a number of the text."""
    given = [*node.args[1:], *(one.value for one in node.keywords if one.arg == "dim")]
    return len(given) <= 1 and len(node.args) - 1 + len(node.keywords) == len(given) and None not in map(whole, given)


def whole(node: gast.expr) -> int | None:
    """The integer that an expression spells out."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        found = whole(node.operand)
        return None if found is None else -found
    value = node.value if isinstance(node, gast.Constant) else None
    return value if type(value) is int else None
