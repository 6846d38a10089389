"""Sums and counts of the elements that a test on tensors lets through.

    sum(e * w for e in x if e > 0)         ag.sum_((e > 0, lambda: e * w) for e in x)
    sum([e * w for e in x if e > 0])       ag.sum_(((e > 0, lambda: e * w) for e in x), listed=True)
    len([e for e in x if e > 0])           ag.sum_((e > 0, lambda: 1) for e in x)
    any(e < 1 for e in x if e > 0)         any(e > 0 and e < 1 for e in x)
    all(e < 1 for e in x if e > 0)         all(not e > 0 or e < 1 for e in x)

How many elements there are depends on data; what is asked of them does not need the list. Other uses of such a
comprehension stay as they are.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Kind
from autograph_torch.analysis.scopes import SCOPES, SUSPENDS, binds, reads
from autograph_torch.source.nodes import derive, rebuild, replace, walk
from autograph_torch.source.templates import constant, runtime_call, thunk, tuple_of

FILTER_WORDS = frozenset(("sum", "len"))
_QUANTIFIERS = ("any", "all")


def lower_filters(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite calls of sum, len, any and all over a comprehension whose last test may be a tensor."""

    def lower(node: gast.AST) -> gast.AST:
        if isinstance(node, SCOPES) or facts.is_skipped(node):
            return node
        new = rebuild(node, lower)
        if not isinstance(new, gast.Call) or not is_filtered(new, facts):
            return new
        return _quantified(new, facts) if new.func.id in _QUANTIFIERS else _summed(new, facts)

    return rebuild(function, lower)


def is_filtered(node: gast.Call, facts: Facts) -> bool:
    """Whether a call asks one thing of the elements that a test on tensors lets through."""
    if not facts.kinds.is_builtin(node.func, (*FILTER_WORDS, *_QUANTIFIERS)) or len(node.args) != 1 or node.keywords:
        return False
    argument = node.args[0]
    lists = gast.ListComp if node.func.id == "len" else (gast.ListComp, gast.GeneratorExp)
    if not isinstance(argument, lists):
        return False
    *others, last = argument.generators
    if any(facts.may_be_tensor(test) for generator in others for test in generator.ifs) or last.is_async:
        return False
    parts = [argument.elt, *last.ifs]
    if binds(parts) or any(isinstance(inner, SUSPENDS) for part in parts for inner in walk(part)):
        return False
    counted = node.func.id != "len" or isinstance(argument.elt, (gast.Name, gast.Constant))
    return counted and any(facts.may_be_tensor(test) for test in last.ifs)


def _summed(node: gast.Call, facts: Facts) -> gast.expr:
    argument = node.args[0]
    value = constant(1) if node.func.id == "len" else argument.elt
    handed = facts.handed_over(sorted(reads([value])))
    pair = [_joined(argument.generators[-1].ifs), thunk(value, handed), *([tuple_of(handed)] if handed else [])]
    pairs = gast.GeneratorExp(elt=gast.Tuple(elts=pair, ctx=gast.Load()), generators=_unfiltered(argument))
    facts.report("AG108", node, f"`{node.func.id}` over what a tensor test lets through becomes ag.sum_")
    listed = node.func.id == "sum" and isinstance(argument, gast.ListComp)
    return replace(node, runtime_call("sum_", pairs, **({"listed": constant(True)} if listed else {})))


def _quantified(node: gast.Call, facts: Facts) -> gast.expr:
    argument = node.args[0]
    test = _joined(argument.generators[-1].ifs)
    fails = gast.UnaryOp(op=gast.Not(), operand=test)
    if node.func.id == "all":
        asked = gast.BoolOp(op=gast.Or(), values=[fails, argument.elt])
    else:  # `any` would ask an object again that is a false test
        holds = gast.UnaryOp(op=gast.Not(), operand=fails) if facts.kinds.of(test) == Kind.UNKNOWN else test
        asked = gast.BoolOp(op=gast.And(), values=[holds, argument.elt])
    return derive(node, args=[derive(argument, elt=replace(argument.elt, asked), generators=_unfiltered(argument))])


def _joined(tests: list[gast.expr]) -> gast.expr:
    return tests[0] if len(tests) == 1 else gast.BoolOp(op=gast.And(), values=tests)


def _unfiltered(argument: gast.ListComp | gast.GeneratorExp) -> list[gast.comprehension]:
    return [*argument.generators[:-1], derive(argument.generators[-1], ifs=[])]
