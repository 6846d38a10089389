"""In which order the parts of an expression are evaluated, as far as all of them are, whatever happens."""

from __future__ import annotations

from collections.abc import Callable

import gast


def path_to(value: gast.expr, wanted: Callable[[gast.expr], bool]) -> list[gast.expr] | None:
    """The first wanted expression among what `value` surely evaluates, with all that is around it, outermost first.

    What is around it is not wanted itself: `[f(c), c]` for a wanted `c` in `f(c)`.
    """
    if wanted(value):
        return [value]
    for part in parts(value):
        found = path_to(part, wanted)
        if found is not None:
            return [value, *found]
    return None


def parts(value: gast.expr) -> list[gast.expr]:
    """What an expression evaluates, in this order; nothing, where we do not know."""
    if isinstance(value, (gast.Tuple, gast.List)) and isinstance(value.ctx, gast.Load):
        found = value.elts
    elif isinstance(value, gast.BinOp):
        found = [value.left, value.right]
    elif isinstance(value, gast.Compare):
        found = [value.left, value.comparators[0]]
    elif isinstance(value, gast.UnaryOp):
        found = [value.operand]
    elif isinstance(value, gast.Attribute) and isinstance(value.ctx, gast.Load):
        found = [value.value]
    elif isinstance(value, gast.Subscript) and not isinstance(value.slice, gast.Slice):
        found = [value.value, value.slice]
    elif isinstance(value, gast.Call):
        found = [value.func, *value.args, *(one.value for one in value.keywords if one.arg is not None)]
        if len(found) <= len(value.args) + len(value.keywords):
            return []
    elif isinstance(value, gast.Dict) and all(isinstance(key, gast.Constant) for key in value.keys):
        found = value.values
    else:
        return []
    return [] if any(isinstance(one, gast.Starred) for one in found) else found
