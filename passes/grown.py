"""Statements that ask a list that has grown in a loop on data, wherever it is, ask it by way of the runtime.

    torch.stack(self.errors)               ag.stacked(self.errors)
    sum(log["loss"])                       ag.total(log["loss"])
    for error in self.errors:              for error in ag.elements_of(self.errors):
    steps = [b - a for b in self.xs]       steps = ag.listed_map(self.xs, lambda b: b - a)
    later = self.xs[1:]                    later = ag.part(self.xs, 1, None)
    digits[::-1]                           ag.backwards(digits)
    list(xs), list(reversed(xs))           ag.copied(xs), ag.copied_backwards(xs)

A trace has shown which statements these are (capture/attempts.py): the tracer knows which lists have grown
(capture/grown.py), and answers `append`, `len`, the truth and single elements itself. Of anything else than such a list
the runtime gives what the text says. Lists that are local variables are the business of growing.py.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import SCOPES, walk_scope
from autograph_torch.passes.growing import ITERATORS, OF_ALL, OVER_ALL, has_dimension, mapping, whole
from autograph_torch.source.layout import header_nodes
from autograph_torch.source.nodes import derive, is_none, rebuild, replace, walk
from autograph_torch.source.templates import constant, runtime_call, runtime_function

_OF_OURS = ("part", "backwards", "copied", "copied_backwards", "listed_map", "listed_map_of_tuples")


def ask_grown(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite the statements on the lines that a trace has shown."""
    if not facts.told.growing:
        return function
    told = {id(node) for node in walk_scope(function.body) if isinstance(node, gast.stmt) and _is_told(node, facts)}

    def rewrite(node: gast.AST, asked: bool = False) -> gast.AST:
        if isinstance(node, SCOPES):
            return node
        if isinstance(node, gast.stmt):
            asked = id(node) in told
        done = rebuild(node, lambda inner: rewrite(inner, asked))
        return _asked(done, facts) if asked else done

    return rebuild(function, rewrite) if told else function


def _is_told(statement: gast.stmt, facts: Facts) -> bool:
    """Whether a trace has failed at this statement, or at the head of its blocks."""
    lines = {getattr(node, "lineno", None) for part in header_nodes(statement) for node in walk(part)}
    return not facts.told.growing.isdisjoint({*lines, getattr(statement, "lineno", None)})


def _asked(node: gast.AST, facts: Facts) -> gast.AST:
    """What asks the runtime in the place of a node."""
    new: gast.AST | None = None
    if isinstance(node, gast.Call):
        new = _call(node, facts)
    elif isinstance(node, gast.ListComp):
        new = _comprehension(node, facts)
    elif isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Load):
        new = _slice(node)
    if new is not None:
        return replace(node, new)
    if isinstance(node, gast.For) and _may_be_list(node.iter):
        return derive(node, iter=runtime_call("elements_of", node.iter))
    return node


def _comprehension(node: gast.ListComp, facts: Facts) -> gast.Call | None:
    mapped = mapping(node, facts)
    if mapped is None:
        return None
    iterable, *rest = mapped
    unpacked = isinstance(node.generators[0].target, gast.Tuple)
    if isinstance(iterable, gast.Call) and facts.kinds.is_builtin(iterable.func, ITERATORS):
        iterable = runtime_call(iterable.func.id, *iterable.args)
    return runtime_call("listed_map_of_tuples" if unpacked else "listed_map", iterable, *rest)


def _call(node: gast.Call, facts: Facts) -> gast.Call | None:
    turned = _turned(node, facts)
    if turned is not None:
        return runtime_call("copied_backwards", turned)
    if not node.args or not _may_be_list(node.args[0]):
        return None
    path = facts.kinds.torch_path(node.func)
    if path in OVER_ALL and has_dimension(node):
        named = {one.arg: one.value for one in node.keywords}
        return runtime_call(OVER_ALL[path], *node.args, **named)
    if facts.kinds.is_builtin(node.func, ITERATORS):
        args = [runtime_call("elements_of", one) if _may_be_list(one) else one for one in node.args]
        return derive(node, args=args)
    if len(node.args) > 1 or node.keywords:
        return None
    if path == "tensor":
        return runtime_call("tensor_of", *node.args)
    if facts.kinds.is_builtin(node.func, ("list",)):
        return runtime_call("copied", *node.args)
    return runtime_call(OF_ALL[node.func.id], *node.args) if facts.kinds.is_builtin(node.func, tuple(OF_ALL)) else None


def _turned(node: gast.Call, facts: Facts) -> gast.expr | None:
    """The list in `list(reversed(xs))`, of which the inner call has been seen to."""
    if not facts.kinds.is_builtin(node.func, ("list",)) or len(node.args) != 1 or node.keywords:
        return None
    (inner,) = node.args
    if not isinstance(inner, gast.Call) or not facts.kinds.is_builtin(inner.func, ("reversed",)) or not inner.args:
        return None
    return inner.args[0].args[0] if runtime_function(inner.args[0]) == "elements_of" else None


def _slice(node: gast.Subscript) -> gast.Call | None:
    """`xs[1:]`, `xs[:-1]`, with numbers of the text, and `xs[::-1]`."""
    if not isinstance(node.slice, gast.Slice) or not _may_be_list(node.value):
        return None
    bounds = [constant(None) if one is None else one for one in (node.slice.lower, node.slice.upper)]
    if node.slice.step is not None:
        turned = whole(node.slice.step) == -1 and all(is_none(one) for one in bounds)
        return runtime_call("backwards", node.value) if turned else None
    known = all(whole(one) is not None or is_none(one) for one in bounds)
    return runtime_call("part", node.value, *bounds) if known else None


def _may_be_list(node: gast.expr) -> bool:
    """What a list may be reached by; or a call of ours that gives a part of one."""
    return isinstance(node, (gast.Name, gast.Attribute, gast.Subscript)) or runtime_function(node) in _OF_OURS
