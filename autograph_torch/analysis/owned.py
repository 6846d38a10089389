"""Lists, dicts, sets and deques that only one local name can reach: nobody else sees what a branch does to them.

xs = []                                made here, or by list(), dict(), set() or a class of `collections`
xs.append(x); xs[0]; len(xs)           used, and never given away
return torch.stack(xs)

values = d.values(); add = xs.append   given away: these see what becomes of the container, and may write to it
for v in d.values(): ...               used up at once
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from autograph_torch.analysis.consumption import behind, used_up
from autograph_torch.analysis.kinds import Kinds
from autograph_torch.analysis.scopes import captured, names_of, parameters, walk_scope

_MADE = (gast.List, gast.Dict, gast.Set, gast.ListComp, gast.DictComp, gast.SetComp)
_MAKERS = ("list", "dict", "set")
_MAKERS_OF_COLLECTIONS = tuple(f"collections.{kind}" for kind in ("Counter", "OrderedDict", "defaultdict", "deque"))
_METHODS = frozenset(
    "append extend insert pop remove clear reverse sort copy index count "
    "get update setdefault popitem move_to_end most_common elements total subtract "
    "add discard union intersection difference symmetric_difference issubset issuperset isdisjoint "
    "intersection_update difference_update symmetric_difference_update "
    "appendleft extendleft popleft rotate".split()
)


def owned_containers(function: gast.FunctionDef, kinds: Kinds) -> frozenset[str]:
    """The local names of a function whose lists, dicts, sets and deques no other name can reach."""
    nodes = list(walk_scope(function.body))
    targets = [target for node in nodes for target in _targets_of_new(node, kinds)]
    used = {id(inner) for node in nodes for inner in _harmless(node)} | {id(target) for target in targets}
    given = {node.id for node in nodes if isinstance(node, gast.Name) and id(node) not in used}
    outside = {*parameters(function.args), *names_of(function.body).outer, *captured(function.body)}
    return frozenset({target.id for target in targets} - given - outside)


def _targets_of_new(node: gast.AST, kinds: Kinds) -> list[gast.Name]:
    """Names that an assignment binds to a new container."""
    if isinstance(node, gast.Assign) and len(node.targets) == 1:
        pairs = bound_pairs(node.targets[0], node.value)
    elif isinstance(node, gast.AnnAssign):
        pairs = [(node.target, node.value)]
    else:
        return []
    return [target for target, value in pairs if isinstance(target, gast.Name) and _makes_container(value, kinds)]


def bound_pairs(target: gast.expr, value: gast.expr) -> list[tuple[gast.expr, gast.expr]]:
    """What is bound, and to what: `up, down = [], []` are two assignments."""
    both = (target, value)
    if not all(isinstance(one, (gast.Tuple, gast.List)) for one in both) or len(target.elts) != len(value.elts):
        return [both]
    if any(isinstance(part, gast.Starred) for one in both for part in one.elts):
        return [both]
    return list(zip(target.elts, value.elts, strict=True))


def _makes_container(value: gast.expr | None, kinds: Kinds) -> bool:
    if isinstance(value, gast.Call):
        return kinds.is_builtin(value.func, _MAKERS) or kinds.origin(value.func) in _MAKERS_OF_COLLECTIONS
    return isinstance(value, _MADE)


def _harmless(node: gast.AST) -> list[gast.expr]:
    """Places in a node where a container is used and not given away."""
    if isinstance(node, gast.Subscript):
        return [node.value]
    if isinstance(node, gast.Attribute) and node.attr == "maxlen":
        return [node.value]
    if isinstance(node, gast.Call):
        asked = [one.value for one in used_up(node) if isinstance(one, gast.Attribute) and one.attr in _METHODS]
        return [*_owner(node), *asked, *used_up(node)]
    if isinstance(node, gast.AugAssign):  # `seen |= {k}` keeps the object
        return [node.target]
    if isinstance(node, gast.BinOp):
        return [node.left, node.right]
    if isinstance(node, gast.For):
        return list(behind([node.iter]))
    if isinstance(node, gast.UnaryOp):  # `not xs`
        return [node.operand]
    if isinstance(node, (gast.If, gast.While, gast.IfExp)):
        return [node.test]
    if isinstance(node, gast.Return):
        return list(_handed_out(node.value)) if node.value is not None else []
    return list(used_up(node))


def _owner(call: gast.Call) -> list[gast.expr]:
    """The container whose method is called."""
    is_method = isinstance(call.func, gast.Attribute) and call.func.attr in _METHODS
    return [call.func.value] if is_method else []


def _handed_out(value: gast.expr) -> Iterator[gast.expr]:
    """What a function returns, and what is in the displays that it returns: nothing runs behind it."""
    yield from behind([value])
    parts = value.elts if isinstance(value, (gast.Tuple, gast.List)) else ()
    for part in value.values if isinstance(value, gast.Dict) else parts:
        yield from _handed_out(part)
