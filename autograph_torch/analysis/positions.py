"""The position in a `range` whose loop data may leave early: it becomes a number of the graph, where it may be one.

for i in range(100):                   i counts, computes, is compared and indexes tensors
    if i > 10: x = x * 0.5             so this `if` is one on data
    x = step(x[i])                     but here, or in names[i], only a constant will do
    if x.norm() < 1e-6: break
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from autograph_torch.analysis.scopes import reads

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
    return all(_computes(statement, node.target.id, is_tensor) for statement in node.body)


def is_short(call: gast.Call) -> bool:
    """Whether a `range` is known to have so few trips that each gets a copy of the body."""
    bounds = [argument.value for argument in call.args if isinstance(argument, gast.Constant)]
    known = len(bounds) == len(call.args) and all(type(bound) is int for bound in bounds) and bounds[2:] != [0]
    return known and len(range(*bounds)) <= UNROLL_LIMIT


def _computes(node: gast.AST, target: str, is_tensor: Callable[[gast.expr], bool]) -> bool:
    if target not in reads(node):
        return True
    if isinstance(node, gast.Name):
        return False  # bare: it may be stored, passed on or returned
    arithmetic = (gast.BinOp, gast.Compare, gast.UnaryOp, gast.AugAssign)
    of_tensor = isinstance(node, gast.Subscript) and is_tensor(node.value)
    ok_here = isinstance(node, arithmetic) or of_tensor
    for child in gast.iter_child_nodes(node):
        bare = isinstance(child, gast.Name) and child.id == target
        if bare and not ok_here:
            return False
        if not bare and not _computes(child, target, is_tensor):
            return False
    return True
