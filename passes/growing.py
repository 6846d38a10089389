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
    xs[-1], xs[0]       if xs:                  for y in xs, in enumerate(xs), zip(xs, ys) or reversed(xs)
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import LOOPS, SCOPES, binds, captured, names_of, parameters, walk_scope
from autograph_torch.source.nodes import name, place, rebuild, replace, walk
from autograph_torch.source.templates import assign, constant, runtime_call

_OVER_ALL = {"stack": "stacked", "cat": "concatenated", "concat": "concatenated"}
_ITERATORS = ("enumerate", "zip", "reversed")

# A use of a list: the name in it, and what is written in the place of what.
Use = tuple[gast.Name, gast.AST, gast.AST]


def lower_growing(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite the uses of the lists that grow in the loops on these lines."""
    if not facts.growing_lines:
        return function
    nodes = list(walk_scope(function.body))
    loops = {id(node): _appended_to(node) for node in nodes if isinstance(node, LOOPS) and _is_told(node, facts)}
    names = {n for appended in loops.values() for n in appended}
    hidden = {*parameters(function.args), *names_of(function.body).outer, *captured(function.body)}
    uses = [use for node in nodes for use in _uses(node, facts) if use[0].id in names - hidden]
    known = {id(use[0]) for use in uses}
    unknown = {node.id for node in nodes if isinstance(node, gast.Name) and id(node) not in known}
    bound = [one.id for one, *_ in uses if not isinstance(one.ctx, gast.Load)]
    eligible = {n for n in names - hidden - unknown if bound.count(n) == 1}
    written = {id(old): new for one, old, new in uses if one.id in eligible and old is not new}

    def rewrite(node: gast.AST, growing: frozenset[str] = frozenset()) -> gast.AST | list[gast.AST]:
        if isinstance(node, SCOPES):
            return node
        new = written.get(id(node))
        if new is not None:
            return replace(node, new)
        grow = sorted((loops.get(id(node), set()) & eligible) - growing)
        done = rebuild(node, lambda inner: rewrite(inner, growing.union(grow)))
        before = [place(assign([n], runtime_call("growing_list", name(n))), node) for n in grow]
        return [*before, done] if grow else done

    return rebuild(function, lambda node: rewrite(node)) if eligible else function


def _is_told(loop: gast.AST, facts: Facts) -> bool:
    """Whether a trace has failed at this loop, or in it."""
    return any(getattr(node, "lineno", None) in facts.growing_lines for node in walk(loop))


def _appended_to(loop: gast.AST) -> set[str]:
    """The names of lists from before a loop that it appends to."""
    calls = [node.func for node in walk(loop) if isinstance(node, gast.Call)]
    found = [func.value for func in calls if isinstance(func, gast.Attribute) and func.attr == "append"]
    return {node.id for node in found if isinstance(node, gast.Name)} - set(binds(loop))


def _uses(node: gast.AST, facts: Facts) -> list[Use]:
    """What a node does with a list that it names, where we know how to."""
    if isinstance(node, gast.Assign):
        only = node.targets[0] if len(node.targets) == 1 else None
        if isinstance(only, gast.Name) and isinstance(node.value, gast.List) and not _starred(node.value.elts):
            return [(only,) * 3]
    elif isinstance(node, gast.Expr) and _is_append(node.value):
        return [(node.value.func.value,) * 3]
    elif isinstance(node, gast.Call):
        return _calls(node, facts)
    elif isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Load) and _whole(node.slice) is not None:
        return [(one, node, runtime_call("element", one, node.slice)) for one in _names([node.value])]
    elif isinstance(node, gast.For):
        return [(one, one, runtime_call("elements_of", one)) for one in _names([node.iter])]
    elif isinstance(node, (gast.If, gast.While, gast.IfExp)):
        return [(one, one, _is_filled(one)) for one in _names([node.test])]
    elif isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
        return [(one, one, _is_filled(one)) for one in _names([node.operand])]
    elif isinstance(node, gast.Return) and node.value is not None:
        return [(one, one, runtime_call("listed", one)) for one in _returned(node.value)]
    return []


def _calls(node: gast.Call, facts: Facts) -> list[Use]:
    path = facts.kinds.torch_path(node.func)
    first = _names(node.args[:1])
    if path in _OVER_ALL and first and _has_dimension(node):
        named = {one.arg: one.value for one in node.keywords}
        return [(first[0], node, runtime_call(_OVER_ALL[path], *node.args, **named))]
    if facts.kinds.is_builtin(node.func, ("len",)) and first and len(node.args) == 1:
        return [(first[0], node, runtime_call("length", first[0]))]
    if facts.kinds.is_builtin(node.func, ("sum",)) and first and len(node.args) == 1:
        return [(first[0], node, runtime_call("total", first[0]))]
    if facts.kinds.is_builtin(node.func, _ITERATORS):
        return [(one, one, runtime_call("elements_of", one)) for one in _names(node.args)]
    return []


def _is_filled(one: gast.Name) -> gast.Compare:
    return gast.Compare(left=runtime_call("length", one), ops=[gast.Gt()], comparators=[constant(0)])


def _returned(value: gast.expr) -> list[gast.Name]:
    """The names among the parts of a value that is returned."""
    if isinstance(value, (gast.Tuple, gast.List)):
        return [one for part in value.elts for one in _returned(part)]
    if isinstance(value, gast.Dict):
        return [one for part in value.values for one in _returned(part)]
    return _names([value])


def _names(nodes: list[gast.expr]) -> list[gast.Name]:
    return [node for node in nodes if isinstance(node, gast.Name)]


def _is_append(node: gast.expr) -> bool:
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute) or node.func.attr != "append":
        return False
    return isinstance(node.func.value, gast.Name) and len(node.args) == 1 and not _starred(node.args)


def _starred(nodes: list[gast.expr]) -> bool:
    return any(isinstance(node, gast.Starred) for node in nodes)


def _has_dimension(node: gast.Call) -> bool:
    """Whether nothing but the dimension is given beside the list, and that as a number of the text."""
    given = [*node.args[1:], *(one.value for one in node.keywords if one.arg == "dim")]
    return len(given) <= 1 and len(node.args) - 1 + len(node.keywords) == len(given) and None not in map(_whole, given)


def _whole(node: gast.expr) -> int | None:
    """The integer that an expression spells out."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        found = _whole(node.operand)
        return None if found is None else -found
    value = node.value if isinstance(node, gast.Constant) else None
    return value if type(value) is int else None
