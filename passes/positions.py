"""Elements of lists that data tell the position of.

    x = steps[i](x) + factors[i]           x = ag.called_at(steps, i, x) + ag.element_at(factors, i)

A trace has shown on which lines (capture/attempts.py). Where it has also shown that the elements have no type in
common, each gets a path of its own, as if the user had asked for the position (with room for eight of them):

    label = names[i]                       at = ag.position_in(names, i)
    print(label)                           if ag.is_position(at, names, 0):
                                               label = ag.element_there(names, 0)
                                           elif ag.is_position(at, names, 1):
                                               ...
                                           else:
                                               label = ag.last_element(names, i, at)
                                           print(label)

passes/jumps.py then moves what follows. The element that `max(names, key=f)` or `min` picks is one of these, too. Left
alone: what is assigned or written to by an index.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.evaluation import path_to
from autograph_torch.analysis.facts import Facts
from autograph_torch.passes.splits import evaluate_first, is_fixed
from autograph_torch.source.nodes import derive, name, place, rebuild, replace, substitute
from autograph_torch.source.templates import assign, constant, runtime_call

_CASES = 8  # elements that are worth a path each; runtime/positions.py refuses more


def lower_positions(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite the indices on the lines that a trace has failed on."""
    if not facts.told.positions and not facts.told.splits:
        return function

    def lower(node: gast.AST) -> gast.AST | list[gast.stmt]:
        if isinstance(node, _STATEMENTS) and node.lineno in facts.told.splits:
            cases = _cases_of(node, facts)
            if cases is not None:
                return cases
        if isinstance(getattr(node, "ctx", None), (gast.Store, gast.Del)):
            return node
        new = rebuild(node, lower)
        if getattr(node, "lineno", None) not in facts.told.positions:
            return new
        if isinstance(node, gast.Call) and _is_element(node.func) and not _is_unpacked(node):
            called = runtime_call("called_at", lower(node.func.value), lower(node.func.slice), *new.args)
            called.keywords = new.keywords
            return replace(node, called)
        return replace(node, runtime_call("element_at", new.value, new.slice)) if _is_element(node) else new

    return rebuild(function, lower)


_STATEMENTS = (gast.Assign, gast.AnnAssign, gast.AugAssign, gast.Return, gast.Expr)


def _cases_of(node: gast.stmt, facts: Facts) -> list[gast.stmt] | None:
    """The statement for each of the elements; what is evaluated before it keeps its place."""
    told = node.lineno in facts.told.positions

    def is_one(part: gast.AST) -> bool:
        return (told and _is_element(part)) or _is_extreme(part, facts)

    found = path_to(node.value, is_one) if node.value is not None else None
    if found is None:
        return None
    element = found[-1]
    first, known = evaluate_first(found, node, facts.fresh, lambda part: is_fixed(part, facts))
    items, index, at = (facts.fresh(word) for word in ("items", "index", "at"))
    if isinstance(element, gast.Call):
        every = gast.List(elts=[gast.Starred(value=element.args[0], ctx=gast.Load())], ctx=gast.Load())
        largest = constant(element.func.id == "max")
        which = runtime_call("place_of_extreme", largest, name(items), element.keywords[0].value)
    else:
        every, which = element.value, element.slice
    asked = runtime_call("position_in", name(items), name(index))
    first += [place(assign([bound], value), node) for bound, value in ((items, every), (index, which), (at, asked))]

    def side(value: gast.expr) -> gast.stmt:
        return derive(node, value=substitute(node.value, {**known, id(element): value}))

    cases = [side(runtime_call("last_element", name(items), name(index), name(at)))]
    for k in reversed(range(_CASES - 1)):
        test = runtime_call("is_position", name(at), name(items), constant(k))
        there = side(runtime_call("element_there", name(items), constant(k)))
        cases = [place(gast.If(test=test, body=[there], orelse=cases), node)]
    return [*first, *cases]


def _is_element(node: gast.AST) -> bool:
    """Whether it is `xs[i]`, read, with an index that is no constant."""
    if not isinstance(node, gast.Subscript) or not isinstance(node.ctx, gast.Load):
        return False
    return isinstance(node.slice, (gast.Name, gast.Attribute, gast.Subscript, gast.BinOp, gast.Call))


def _is_extreme(node: gast.AST, facts: Facts) -> bool:
    """Whether it is `max(items, key=...)` or `min`."""
    if not isinstance(node, gast.Call) or not facts.kinds.is_builtin(node.func, ("max", "min")):
        return False
    return len(node.args) == 1 and not _is_unpacked(node) and [one.arg for one in node.keywords] == ["key"]


def _is_unpacked(node: gast.Call) -> bool:
    return any(isinstance(one, gast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords)
