"""Plans for results of two types, of which Python picks one behind the graph (see picking.py).

    None and a tensor                    ("choice", 2, (None, the tensor))
    [tensor, 1] and [tensor, 1.0]        a list of (the tensor, ("choice", 2, (an int, a float)))

Like layout.py, this only handles constants.
"""

from __future__ import annotations

from dataclasses import replace

from autograph_torch.runtime import tracing
from autograph_torch.runtime.layout import (
    CONTAINERS,
    FLAGGED,
    SHARED,
    Mismatch,
    Plan,
    Spec,
    filled,
    join,
    sharing,
    unaliased,
    within_reach,
)
from autograph_torch.runtime.picking import Ending

Path = tuple[int, ...]


def join_results(then: Spec, otherwise: Spec, ending: Ending, may_stay_open: bool) -> Plan:
    """One plan for what two branches give (see notes.py), of which some parts may be of two types.

    Raises:
        Mismatch: others are.
    """
    if then[0] == "hole" or otherwise[0] == "hole":
        return join(then, otherwise)
    value, contents, memories, fields, token = zip(then[2], otherwise[2], strict=True)
    joined = _join(*value, (0,)) if ending else join(*value)
    written = _join_contents(*contents, ending == "all") if may_stay_open else join(*contents)
    attributes = _join(*fields, (3,)) if ending == "all" else join(*fields)
    parts = (joined, written, join(*memories), attributes, join(*token))
    plan = sharing(("tuple", len(parts), parts), then, otherwise)
    return within_reach(plan) if _has(plan, "choice") else plan


def alternative(plan: Plan, spec: Spec) -> int:
    """Which of the values of a choice a branch gives."""
    fitting = [
        k
        for plain in (_with_objects_alone, unaliased)
        for k, one in enumerate(plan[2])
        if _suited(plain(one), plain(spec), ()) == plain(one)
    ]
    return fitting[0]


def _with_objects_alone(spec: Spec) -> Spec:
    """As `unaliased`, but an object from around the branch is that object, whatever is in it now."""
    if spec[0] == "same":
        return ("open", spec[1])
    spec = spec[2] if spec[0] in SHARED else spec
    if spec[0] in CONTAINERS:
        return (spec[0], spec[1], tuple(_with_objects_alone(part) for part in spec[2]))
    return spec


def _join(then: Spec, otherwise: Spec, path: Path) -> Plan:
    """`path`: to the place of the values in the results."""
    try:
        plan = join(then, otherwise)
        if not _has(plan, "either") and not (_has(plan, "choice") and _has(plan, "picked")):
            return plan
    except Mismatch:
        pass
    alike = then[0] in CONTAINERS and then[:2] == otherwise[:2] and len(then[2]) == len(otherwise[2])
    if alike and then[0] not in (*FLAGGED, "defaultdict", "attributed"):  # made here, of a dict that is there by then
        parts = zip(then[2], otherwise[2], strict=True)
        return (then[0], then[1], tuple(_join(a, b, (*path, k)) for k, (a, b) in enumerate(parts)))
    return _choice(then, otherwise, path)


def _choice(then: Spec, otherwise: Spec, path: Path) -> Plan:
    found = [_kept(one, path) for one in _values(then, path)]
    for one in _values(otherwise, path):
        for k, known in enumerate(found):
            suited = _suited(known, one, path)
            if suited is not None:
                found[k] = suited
                break
        else:
            found.append(_kept(one, path))
    return ("choice", len(found), tuple(_moved(one, path, (*path, -1 - k)) for k, one in enumerate(found)))


def _values(spec: Spec, path: Path) -> tuple[Spec, ...]:
    """The values that a branch may give, each as if it stood at `path` itself."""
    if spec[0] != "choice":
        return (spec,)
    return tuple(_moved(one, (*path, -1 - k), path) for k, one in enumerate(spec[2]))


def _suited(plan: Plan, spec: Spec, path: Path) -> Plan | None:
    """The plan of both, when they have one type. (So no two alternatives look alike to those that travel: constants
    that data pick are the same alternative only where they are picked from the same.)
    """
    try:
        with tracing.knowing(replace(tracing.known(), picks=False)):
            joined = _kept(join(plan, spec), path)
    except Mismatch:
        return None
    return None if _has(joined, "either") and not _has(unaliased(plan), "either") else joined


def _kept(spec: Spec, path: Path) -> Plan:
    """The plan of a value that only some branches give: objects stay themselves, and tensors that it has twice."""
    if spec[0] in ("same", "outer"):
        return spec
    if spec[0] == "again" and spec[1][: len(path)] == path:
        return spec
    if spec[0] in CONTAINERS:
        return (spec[0], spec[1], tuple(_kept(part, path) for part in spec[2]))
    return filled(spec)


def _moved(plan: Plan, before: Path, after: Path) -> Plan:
    """A value that stood at one place, at another one: tensors that come again in it have their first place there."""
    if plan[0] == "again":
        return ("again", (*after, *plan[1][len(before) :]), plan[2])
    if plan[0] in CONTAINERS:
        return (plan[0], plan[1], tuple(_moved(part, before, after) for part in plan[2]))
    return plan


def _join_contents(then: Spec, otherwise: Spec, ends: bool) -> Plan:
    """What is in lists and dicts from around the branches: that of one container may be of two forms.

    ends: whether nothing follows, and their elements may be of two types each.
    """
    if then[0] != "tuple" or then[:2] != otherwise[:2]:
        return join(then, otherwise)
    parts = zip(then[2], otherwise[2], strict=True)
    return ("tuple", then[1], tuple(_join_content(a, b, ends, (1, k)) for k, (a, b) in enumerate(parts)))


def _join_content(then: Spec, otherwise: Spec, ends: bool, path: Path) -> Plan:
    if ends:
        return _join(then, otherwise, path)
    try:
        return join(then, otherwise)
    except Mismatch:
        return _choice(then, otherwise, path)


def _has(plan: Plan, kind: str) -> bool:
    return plan[0] == kind or (plan[0] in CONTAINERS and any(_has(part, kind) for part in plan[2]))
