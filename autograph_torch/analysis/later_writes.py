"""What shows that torch's operators give copies: writes behind a branch or loop, and writes that are made in one.

    y = torch.cond(p, ..., lambda x: x.clone(), (x,))       eager has `x` itself there
    y += 1                                                  and `x` sees this

    z = h * h                                               keeps `h` for its gradient
    h.copy_(torch.cond(p, ..., lambda h: h.clone(), ...))   which is gone, also on the path that changes nothing

What a function that is called writes to is not looked at, but for those of torch that say so (`nn.init.zeros_(x)`) and
those that stand in the text.
"""

from __future__ import annotations

from collections.abc import Collection

import gast

from autograph_torch.analysis.kinds import Kinds
from autograph_torch.analysis.memory import Memory, is_part
from autograph_torch.analysis.scopes import SCOPES, binds, reads
from autograph_torch.analysis.writes import written_targets
from autograph_torch.source.nodes import walk

_KEEP_NOTHING = frozenset(
    "clone zeros ones full tensor empty zeros_like ones_like full_like new_zeros new_ones".split()
)


def written_behind(
    name: str, site: gast.AST, function: gast.FunctionDef, memory: Memory, kinds: Kinds, numbers: Collection[str]
) -> str | None:
    """A place that may have the memory of a name, and is written to behind `site`.

    Args:
        name: a result of the branch or loop.
        site: the branch or loop, with its place in the text of the user.
        function: as the user wrote it.
        numbers: names of Python numbers, which `+=` binds anew.
    """
    together = memory.group(name)
    behind = [node for node in walk(function) if _runs_behind(node, site, function)]
    targets = [target for node in behind for target in written_targets(node, kinds)]
    written = [place for target in targets for place in memory.places(target) if place not in numbers]
    return next((place for place in written if any(is_part(place, one) for one in together)), None)


def may_be_saved(name: str, site: gast.AST, function: gast.FunctionDef) -> bool:
    """Whether something before the site may have kept the tensor of a name for its gradient.

    That is what computes with it, and a function that keeps its own result (`h = x.exp()`). Tests keep nothing.
    """
    nodes = list(walk(function))
    asked = {id(inner) for node in nodes for inner in walk(getattr(node, "test", None) or gast.Pass())}
    before = [node for node in nodes if _runs_before(node, site, function) and id(node) not in asked]
    if any(isinstance(node, (gast.BinOp, gast.Call, gast.AugAssign)) and name in reads(node) for node in before):
        return True
    bound = [node.value for node in before if isinstance(node, gast.Assign) and name in binds(node)]
    return not all(_keeps_nothing(value) for value in bound)


def _keeps_nothing(value: gast.expr) -> bool:
    if isinstance(value, gast.BinOp):
        return isinstance(value.op, (gast.Add, gast.Sub, gast.Mult, gast.Div))
    called = getattr(value.func, "attr", "") if isinstance(value, gast.Call) else "clone"
    return called in _KEEP_NOTHING


def _runs_before(node: gast.AST, site: gast.AST, function: gast.FunctionDef) -> bool:
    apart = getattr(node, "lineno", None) is not None and not _is_in(node, site)
    return apart and _runs_behind(site, node, function)


def _runs_behind(node: gast.AST, site: gast.AST, function: gast.FunctionDef) -> bool:
    """Whether a node comes behind the site: in the text, in the next trip of a loop around both, or when called."""
    if getattr(node, "lineno", None) is None or _is_in(node, site):
        return False
    inner = (one for one in walk(function) if isinstance(one, (*SCOPES, gast.Lambda)) and one is not function)
    if any(_is_in(node, one) and not _is_in(site, one) for one in inner):
        return True
    if (node.lineno, node.col_offset) >= (site.end_lineno, site.end_col_offset):
        return True
    loops = (one for one in walk(function) if isinstance(one, (gast.For, gast.While)) and not _is_in(one, site))
    return any(_is_in(site, loop) and _is_in(node, loop) for loop in loops)


def _is_in(node: gast.AST, other: gast.AST) -> bool:
    """Whether the text of a node lies in that of another one, or is the same."""
    begins = (other.lineno, other.col_offset) <= (node.lineno, node.col_offset)
    return begins and (node.end_lineno, node.end_col_offset) <= (other.end_lineno, other.end_col_offset)
