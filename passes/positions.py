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
                                               label = ag.last_element(names, i, at, 8)
                                           print(label)

passes/jumps.py then moves what follows. The element that `max(names, key=f)` or `min` picks is one of these, too. What
is written to has a branch for each element from the beginning (with room for sixteen; in `table[i][k]` for four rows):

    counts[k] += 1                         at = ag.position_in(counts, k)
                                           if ag.is_position(at, counts, 0):
                                               counts[ag.key_there(counts, 0)] += 1
                                           elif ...
                                           else:
                                               counts[ag.last_key(counts, k, at, 16)] += 1

Left alone: indices in targets of loops and of several names, and in `del`.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.evaluation import path_to
from autograph_torch.analysis.facts import Facts
from autograph_torch.passes.splits import evaluate_first, is_fixed
from autograph_torch.source.nodes import derive, name, place, rebuild, replace, substitute
from autograph_torch.source.templates import assign, constant, runtime_call, runtime_function

# Elements that are worth a path, or a branch, each; the runtime refuses more.
_CASES, _PLACES, _ROWS = 8, 16, 4  # the last: of a list of lists


def lower_positions(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite the indices on the lines that a trace has failed on."""
    if not facts.told.positions and not facts.told.splits:
        return function

    def lower(node: gast.AST) -> gast.AST | list[gast.stmt]:
        if isinstance(node, _STATEMENTS) and node.lineno in facts.told.splits:
            cases = _cases_of(node, facts)
            if cases is not None:
                return cases
        part = _written_part(node)
        if part is not None and node.lineno in facts.told.positions:
            return _places_of(derive(node, value=lower(node.value)), part, facts)
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

    last = [side(runtime_call("last_element", name(items), name(index), name(at), constant(_CASES)))]
    each = [[side(runtime_call("element_there", name(items), constant(k)))] for k in range(_CASES - 1)]
    return [*first, *_chain(at, items, each, last)]


def _written_part(node: gast.AST) -> gast.Subscript | None:
    """What data may tell the place of in a statement that writes to `xs[i]` or `table[i][j]`, and to nothing else."""
    targets = node.targets if isinstance(node, gast.Assign) else [getattr(node, "target", None)]
    return _told(targets[0]) if isinstance(node, (gast.Assign, gast.AugAssign)) and len(targets) == 1 else None


def _told(target: gast.AST | None) -> gast.Subscript | None:
    """The first part of a target, from the left, whose index data may tell."""
    if not isinstance(target, gast.Subscript):
        return None
    before = _told(target.value)
    known = runtime_function(target.slice) in _KEYS
    return before if before is not None else target if _is_index(target.slice) and not known else None


_KEYS = ("key_there", "last_key")


def _places_of(node: gast.Assign | gast.AugAssign, part: gast.Subscript, facts: Facts) -> list[gast.stmt]:
    """The statement for each of the places of a part of its target, in the order of Python's evaluation."""
    is_plain = isinstance(node, gast.Assign)
    target = node.targets[0] if is_plain else node.target
    index, at = facts.fresh("index"), facts.fresh("at")
    items = part.value.id if isinstance(part.value, gast.Name) else facts.fresh("items")
    first = [(items, part.value)] if not isinstance(part.value, gast.Name) else []
    first += [(index, part.slice), (at, runtime_call("position_in", name(items), name(index)))]
    if is_plain and not isinstance(node.value, (gast.Name, gast.Constant)):
        written = facts.fresh("written")
        first = [(written, node.value), *first]
        node = derive(node, value=name(written))

    def there(key: gast.expr) -> list[gast.stmt]:
        put = substitute(target, {id(part): gast.Subscript(value=name(items), slice=key, ctx=part.ctx)})
        new = derive(node, targets=[put]) if is_plain else derive(node, target=put)
        further = _written_part(new)
        return [new] if further is None else _places_of(new, further, facts)

    count = _PLACES if part is target else _ROWS
    last = there(runtime_call("last_key", name(items), name(index), name(at), constant(count)))
    each = [there(runtime_call("key_there", name(items), constant(k))) for k in range(count - 1)]
    return [*(place(assign([bound], value), node) for bound, value in first), *_chain(at, items, each, last)]


def _chain(at: str, items: str, each: list[list[gast.stmt]], last: list[gast.stmt]) -> list[gast.stmt]:
    """One of the blocks, by the position."""
    cases = last
    for k, there in reversed(list(enumerate(each))):
        test = runtime_call("is_position", name(at), name(items), constant(k))
        cases = [place(gast.If(test=test, body=there, orelse=cases), there[-1])]
    return cases


def _is_element(node: gast.AST) -> bool:
    """Whether it is `xs[i]`, read, with an index that is no constant."""
    if not isinstance(node, gast.Subscript) or not isinstance(node.ctx, gast.Load):
        return False
    return _is_index(node.slice)


def _is_index(node: gast.expr) -> bool:
    """Whether data may tell it: not `0`, nor `-1`."""
    if isinstance(node, gast.UnaryOp):
        return _is_index(node.operand)
    return isinstance(node, (gast.Name, gast.Attribute, gast.Subscript, gast.BinOp, gast.Call))


def _is_extreme(node: gast.AST, facts: Facts) -> bool:
    """Whether it is `max(items, key=...)` or `min`."""
    if not isinstance(node, gast.Call) or not facts.kinds.is_builtin(node.func, ("max", "min")):
        return False
    return len(node.args) == 1 and not _is_unpacked(node) and [one.arg for one in node.keywords] == ["key"]


def _is_unpacked(node: gast.Call) -> bool:
    return any(isinstance(one, gast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords)
