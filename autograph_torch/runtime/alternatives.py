"""Plans for results of two types, of which Python picks one behind the graph (see picking.py).

    None and a tensor                    ("choice", 2, (None, the tensor))
    [tensor, 1] and [tensor, 1.0]        a list of (the tensor, ("choice", 2, (an int, a float)))

Like layout.py, this only handles constants.
"""

from __future__ import annotations

from collections.abc import Iterator

from autograph_torch.runtime.layout import CONTAINERS, SHARED, Mismatch, Plan, Spec, join, only_result

_FLAGGED = ("maybe", "either", "choice")


def join_returned(then: Spec, otherwise: Spec) -> Plan:
    """One plan for what two branches give (see notes.py) when the compiled function returns their value.

    Raises:
        Mismatch: containers that the branches write to end with different keys or lengths.
    """
    value, contents, memories, fields, token = zip(then[2], otherwise[2], strict=True)
    parts = (_join(*value), _join_contents(*contents), join(*memories), _join(*fields), join(*token))
    plan = ("tuple", len(parts), parts)
    return _without_distant_places(plan, frozenset(_places(plan, ()))) if _has(plan, "choice") else plan


def alternative(plan: Plan, spec: Spec) -> int:
    """Which of the values of a choice a branch gives."""
    return next(k for k, known in enumerate(plan[2]) if _suited(known, spec) == known)


def _join(then: Spec, otherwise: Spec) -> Plan:
    try:
        plan = join(then, otherwise)
        if not _has(plan, "either"):
            return plan
    except Mismatch:
        pass
    alike = then[0] in CONTAINERS and then[:2] == otherwise[:2] and len(then[2]) == len(otherwise[2])
    if alike and then[0] not in _FLAGGED:
        return (then[0], then[1], tuple(map(_join, then[2], otherwise[2])))
    found = [only_result(one) for one in _values(then)]
    for one in _values(otherwise):
        suited = [_suited(known, one) for known in found]
        place = next((k for k, plan in enumerate(suited) if plan is not None), None)
        if place is None:
            found.append(only_result(one))
        else:
            found[place] = suited[place] or found[place]
    return ("choice", len(found), tuple(found))


def _values(spec: Spec) -> tuple[Spec, ...]:
    return tuple(spec[2]) if spec[0] == "choice" else (spec,)


def _suited(plan: Plan, spec: Spec) -> Plan | None:
    """The plan of both, when they have one type."""
    try:
        joined = only_result(join(plan, spec))
    except Mismatch:
        return None
    return None if _has(joined, "either") and not _has(plan, "either") else joined


def _join_contents(then: Spec, otherwise: Spec) -> Plan:
    """Lists and dicts from around the branches stay what they are: only their elements may be of two types."""
    if then[0] == "tuple" and then[:2] == otherwise[:2]:
        return ("tuple", then[1], tuple(map(_join_elements, then[2], otherwise[2])))
    return join(then, otherwise)


def _join_elements(then: Spec, otherwise: Spec) -> Plan:
    plan = _join(then, otherwise)
    return join(then, otherwise) if plan[0] == "choice" else plan


def _has(plan: Plan, kind: str) -> bool:
    return plan[0] == kind or (plan[0] in CONTAINERS and any(_has(part, kind) for part in plan[2]))


def _places(plan: Plan, path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Where the tensors and choices of a plan are, without those inside of choices."""
    if plan[0] in ("tensor", "outer", "choice"):
        yield path
    elif plan[0] in CONTAINERS:
        for k, part in enumerate(plan[2]):
            yield from _places(part, (*path, k))


def _without_distant_places(plan: Plan, places: frozenset[tuple[int, ...]]) -> Plan:
    """A tensor that comes again travels twice when its first place is inside of a choice."""
    if plan[0] == "again" and plan[1] not in places:
        return plan[2]  # type: ignore[no-any-return]
    if plan[0] in CONTAINERS and plan[0] not in SHARED:
        return (plan[0], plan[1], tuple(_without_distant_places(part, places) for part in plan[2]))
    return plan
