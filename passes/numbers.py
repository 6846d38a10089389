"""Uses of Python numbers that depend on data, in a form that the graph can answer.

    math.exp(loss.item())                  ag.math.exp(loss.item())
    values = x.tolist()                    values = ag.tolist(x)

What torch.compile takes as it is (arithmetic, comparisons, `math.sqrt`, `round`, sizes) stays as it is. So does
`.item()`; the graph reads the number where Python needs it (capture/numbers.py), which a note says.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from autograph_torch.analysis.facts import Facts, makes_a_list
from autograph_torch.analysis.kinds import Kind
from autograph_torch.analysis.scopes import SCOPES
from autograph_torch.source.nodes import derive, rebuild, replace
from autograph_torch.source.templates import runtime_call

_TENSORS = (Kind.TENSOR, Kind.DYNAMIC)
_MATH = frozenset("exp expm1 log log2 log10 log1p fabs hypot isnan isinf isfinite isclose".split())
_COMBINING = ("enumerate", "zip", "reversed", "list", "tuple")
NUMBER_WORDS = _MATH | {"tolist"}


def lower_numbers(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite calls of `math` on numbers that depend on data, and `tolist`."""
    iterated: list[gast.AST] = []  # what loops run over

    def lower(node: gast.AST) -> gast.AST:
        if isinstance(node, SCOPES):
            return node
        if isinstance(node, gast.For):
            iterated.extend(_iterated(node.iter))
        new = rebuild(node, lower)
        if isinstance(node, gast.Call) and _reads_number(node, facts):
            facts.report("AG114", node, "compiled, this number is read later, where Python needs it, or never")
        if not isinstance(node, gast.Call) or not is_number(node, facts):
            return new
        if node.func.attr == "tolist" and any(node is one for one in iterated) and facts.dynamic_iterable(node):
            return new  # passes/loops.py runs over the tensor
        assert isinstance(node.func, gast.Attribute)
        if node.func.attr in _MATH:
            module = runtime_call("math").func
            return _done(
                node, derive(new, func=gast.Attribute(value=module, attr=node.func.attr, ctx=gast.Load())), facts
            )
        return _done(node, runtime_call("tolist", new.func.value), facts)

    return rebuild(function, lower)


def _iterated(node: gast.expr) -> Iterator[gast.expr]:
    """What a loop over `node` runs over: `a` and `b` in `enumerate(zip(a, b))`."""
    yield node
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in _COMBINING:
        for argument in node.args:
            yield from _iterated(argument)


def is_number(node: gast.Call, facts: Facts) -> bool:
    """Whether a call gives numbers that depend on data, in a form that torch.compile does not take."""
    if not isinstance(node.func, gast.Attribute) or facts.is_skipped(node):
        return False
    if node.func.attr in _MATH and facts.kinds.origin(node.func.value) == "math":
        return _depends(node, facts)
    return makes_a_list(node) and _may_be_tensor(node.func.value, facts)


def _reads_number(node: gast.Call, facts: Facts) -> bool:
    """`x.item()`, `float(x)`, `int(x)`, `bool(x)` of a tensor."""
    if facts.is_skipped(node) or node.keywords:
        return False
    if isinstance(node.func, gast.Attribute):
        return (
            node.func.attr == "item" and not node.args and facts.kinds.of(node.func.value) in (*_TENSORS, Kind.UNKNOWN)
        )
    converts = isinstance(node.func, gast.Name) and node.func.id in ("float", "int", "bool") and len(node.args) == 1
    return converts and facts.kinds.of(node.args[0]) in _TENSORS


def _depends(node: gast.Call, facts: Facts) -> bool:
    known = Kind.UNKNOWN if facts.assume_unknown else Kind.SYMBOL
    return any(facts.kinds.of(argument) >= known for argument in node.args)


def _may_be_tensor(node: gast.expr, facts: Facts) -> bool:
    kind = facts.kinds.of(node)
    return kind in _TENSORS or (kind == Kind.UNKNOWN and facts.assume_unknown)


def _done(old: gast.expr, new: gast.expr, facts: Facts) -> gast.expr:
    facts.report("AG113", old, "a number that depends on data is computed in the graph")
    return replace(old, new)
