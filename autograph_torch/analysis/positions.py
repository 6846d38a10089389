"""The position in a `range` whose loop data may leave early: it becomes a number of the graph, where it may be one.

for i in range(100):                   i counts, computes, is compared and indexes tensors
    if i > 10: x = x * 0.5             so this `if` is one on data
    x = step(x[i])                     but here, or in names[i], only a constant will do
    print("trip", i)
    rows.append((i, x))                nor where a list keeps it: such a list grows in the graph's loop
    best = i                           and another name is one as well, or none of the two
    if x.norm() < 1e-6: return x, i
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from autograph_torch.analysis.scopes import reads, walk_scope
from autograph_torch.source.templates import call, runtime_call, runtime_function

UNROLL_LIMIT = 8  # trips of a range that are worth a copy of the body each


def counts_only(node: gast.For, is_tensor: Callable[[gast.expr], bool]) -> bool:
    """Whether the position in a `range` only counts or computes, so that it may be a number of the graph.

    As an index into a Python list, or an argument of an unknown function, it has to be a constant.
    """
    call = node.iter
    if not (isinstance(call, gast.Call) and isinstance(call.func, gast.Name) and call.func.id == "range"):
        return False
    if not isinstance(node.target, gast.Name):
        return False
    names = _names_of(node.target.id, node.body)
    return all(_computes(statement, name, is_tensor) for statement in node.body for name in names)


def _names_of(position: str, block: list[gast.stmt]) -> set[str]:
    """The names that the position in a `range` has in a block."""
    names, known = {position}, 0
    while len(names) > known:
        known = len(names)
        for node in walk_scope(block):
            for target, value in _assigned(node):
                if isinstance(target, gast.Name) and any(_is_one_of(part, names) for part in _parts(value)):
                    names.add(target.id)
    return names


def _assigned(node: gast.AST) -> list[tuple[gast.expr, gast.expr]]:
    """What a statement assigns: targets, each with its value, also in `best, place = x, i`."""
    if not isinstance(node, gast.Assign):
        return []
    pairs = [(target, node.value) for target in node.targets]
    return [single for target, value in pairs for single in _apart(target, value)]


def _apart(target: gast.expr, value: gast.expr) -> list[tuple[gast.expr, gast.expr]]:
    both = isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple) and len(target.elts) == len(value.elts)
    return list(zip(target.elts, value.elts, strict=True)) if both else [(target, value)]


def _is_one_of(node: gast.AST, names: set[str]) -> bool:
    return isinstance(node, gast.Name) and node.id in names


def is_short(call: gast.Call) -> bool:
    """Whether a `range` is known to have so few trips that each gets a copy of the body."""
    bounds = [argument.value for argument in call.args if isinstance(argument, gast.Constant)]
    if len(bounds) != len(call.args) or any(type(bound) is not int for bound in bounds):
        return False
    try:
        return len(range(*bounds)) <= UNROLL_LIMIT
    except (TypeError, ValueError, OverflowError):  # no bounds, or four; a step of zero; more trips than Python counts
        return False


def _computes(node: gast.AST, target: str, is_tensor: Callable[[gast.expr], bool]) -> bool:
    if target not in reads(node):
        return True
    if isinstance(node, gast.Name):
        return False  # bare: it may be stored, passed on or returned
    arithmetic = (gast.BinOp, gast.Compare, gast.UnaryOp, gast.AugAssign)
    of_tensor = isinstance(node, gast.Subscript) and is_tensor(node.value)
    ok_here = isinstance(node, arithmetic) or of_tensor
    if isinstance(node, gast.Raise) and isinstance(node.exc, gast.Call):
        return _computes(
            runtime_call("fail", *node.exc.args, *(one.value for one in node.exc.keywords)), target, is_tensor
        )
    if isinstance(node, gast.Call) and (_shows(node) or _appends(node)):
        others = [keyword.value for keyword in node.keywords]
        return _given(node.args, target, is_tensor) and all(_computes(one, target, is_tensor) for one in others)
    if isinstance(node, gast.Return) and node.value is not None:
        return _given([node.value], target, is_tensor)
    assigned = _assigned(node)
    if assigned and all(isinstance(one, gast.Name) for one, _ in assigned):
        return _given([value for _, value in assigned], target, is_tensor)
    for child in gast.iter_child_nodes(node):
        bare = isinstance(child, gast.Name) and child.id == target
        if bare and not ok_here:
            return False
        if not bare and not _computes(child, target, is_tensor):
            return False
    return True


def _given(values: list[gast.expr], target: str, is_tensor: Callable[[gast.expr], bool]) -> bool:
    """Whether the position only counts or computes in values that may be or hold it."""
    parts = [part for value in values for part in _parts(value)]
    return all(isinstance(part, gast.Name) or _computes(part, target, is_tensor) for part in parts)


def _shows(node: gast.Call) -> bool:
    """Whether a call prints, warns or raises, as it was written or as an effect of the graph: numbers are shown."""
    if runtime_function(node) == "fail":
        return True
    if runtime_function(node) == "effect":
        return _shows(call(*node.args)) if node.args else False
    function = node.func
    if isinstance(function, gast.Attribute):
        return function.attr == "warn" and isinstance(function.value, gast.Name) and function.value.id == "warnings"
    return isinstance(function, gast.Name) and function.id == "print"


def _appends(node: gast.Call) -> bool:
    """Whether a call adds an element to a list."""
    return isinstance(node.func, gast.Attribute) and node.func.attr == "append" and not node.keywords


def _parts(argument: gast.expr) -> list[gast.expr]:
    """What a text or an element of a list is made of.

    The arguments of `"{:5d}".format(i)`, of `ag.text("{:5d}", i)`, what is in f"{i}", or in (i, x) and {"step": i}.
    """
    if isinstance(argument, (gast.Tuple, gast.List, gast.Dict)):
        inner = argument.values if isinstance(argument, gast.Dict) else argument.elts
        return [part for one in inner for part in _parts(one)]
    if isinstance(argument, gast.JoinedStr):
        return [part.value for part in argument.values if isinstance(part, gast.FormattedValue)]
    if isinstance(argument, gast.Call):
        formats = isinstance(argument.func, gast.Attribute) and argument.func.attr == "format"
        if runtime_function(argument) in ("text", "percent") or (
            formats and isinstance(argument.func.value, gast.Constant)
        ):
            return list(argument.args)
    return [argument]
