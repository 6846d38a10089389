"""What results look like, and how two of them are brought to one form.

A *spec* describes a value by constants: its containers, and per leaf the dtype, rank, known sizes and order in memory
(reordering.py) of a tensor, or a Python number, or a constant. A *plan* says which leaves travel as tensors and how
they are turned back. Joining the specs of two branches gives the plan that suits both, or a Mismatch that says what
cannot be reconciled.

This file only handles constants: it runs in real Python during a trace and never touches a tensor.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from autograph_torch.runtime import tracing
from autograph_torch.runtime.fields import MISSING
from autograph_torch.runtime.number_kinds import joined, kind_of
from autograph_torch.runtime.values import Outcome

Spec = tuple[Any, ...]
Plan = tuple[Any, ...]

# How a step of a loop ended stays a tensor: it is only ever compared.
HOW: Plan = ("tensor", torch.int64, (), "cpu", False, None)

# A number travels as a 0-d tensor.
NUMBER_DTYPES = {"bool": torch.bool, "int": torch.int64, "float": torch.float64}

# The same object as one that the branch may write to, as an earlier part of the result, or as a tensor, list or dict
# from around the branch that nobody writes to: (kind, which one, its spec).
SHARED = ("same", "again", "outer")

# Kinds of dicts, each with the class that makes it. A "defaultdict" is a dict and what makes its missing items; what is
# "attributed", an OrderedDict and a dict of its attributes.
MAPPINGS: dict[str, type] = {"dict": dict, "ordered": OrderedDict, "counter": Counter}
# "maybe" and "either" are a value with a flag: whether a name is bound, whether a tensor stands for a number.
# A "choice" is one of several values, and which: only Python can tell their types apart (see picking.py).
# A "shrinking" tensor is the first rows of a buffer, and how many (see shrinking.py): a part of plans of loops only.
FLAGGED = ("maybe", "either", "choice", "shrinking")
# "picked" is one of several constants, and which (see picked.py); a "member" is one of an enumeration.
# "open contents" are those of a list or dict that a body has made, and of which data tell what is in it.
_OF_CLASSES = ("deque", "defaultdict", "attributed", "named", "record", "instance")
CONTAINERS = ("tuple", "list", *MAPPINGS, *_OF_CLASSES, "open contents", *FLAGGED)
# What elements of lists that grow in a loop may be: what is written to any other object does not show (rows.py).
_ROWS = ("tuple", "list", "dict", "named", "record")


MOST_PICKED = 16  # constants of which data pick one
_NUMBER_OR_TENSOR = {"either", "tensor", "number", "const"}


@dataclass
class Mismatch(Exception):
    """Two results that have no common static type."""

    code: str
    message: str
    advice: str


def travel(spec: Spec) -> Plan:
    """The leaves that a result travels as, whatever the other branch gives.

    Python numbers and tensors from around the branch always travel: the other branch may well have another one.
    """
    kind = spec[0]
    if kind == "outer":
        return travel(spec[2])
    if kind == "named" and spec[1] is Outcome:
        return (kind, Outcome, (HOW, *(travel(part) for part in spec[2][1:])))
    if kind in CONTAINERS:
        return (kind, spec[1], tuple(travel(part) for part in spec[2]))
    if _is_number(spec):
        return ("number", _number_type(spec))
    return spec


def same_form(first: Plan, second: Plan) -> bool:
    """Whether two plans give the same leaves: containers, dtypes, ranks and devices; sizes and gradients may differ."""
    if first[0] in CONTAINERS and second[0] == first[0] and second[1] == first[1]:
        return all(same_form(a, b) for a, b in zip(first[2], second[2], strict=True))
    if first[0] == "tensor" and second[0] == "tensor":
        return (first[1], len(first[2]), first[3], first[5]) == (second[1], len(second[2]), second[3], second[5])
    if first[0] in SHARED and second[0] == first[0]:
        return bool(first[1] == second[1])
    return bool(first == second)


def carry_plan(spec: Spec) -> Plan:
    """As `plan_of`, but Python numbers travel too: a carry changes from trip to trip.

    A tensor from around the loop travels, and so does one that comes again where it may also be a number.
    """
    if spec[0] == "outer" or (spec[0] == "again" and spec[2][0] != "tensor"):
        spec = spec[2]
    kind = spec[0]
    if kind in CONTAINERS:
        return (kind, spec[1], tuple(carry_plan(part) for part in spec[2]))
    if kind == "const" and isinstance(spec[1], (bool, int, float)):
        return ("number", type(spec[1]).__name__)
    return spec


def row_plan(spec: Spec) -> Plan:
    """How an element of a list that grows in a loop travels; the sizes of its tensors are told by the tensors.

    Raises:
        Mismatch: it has a part that no other element could be told from by tensors.
    """
    if spec[0] == "outer":
        spec = spec[2]
    kind = spec[0]
    if kind == "tensor":
        return (kind, spec[1], (-1,) * len(spec[2]), spec[3], False, None)
    if kind in _ROWS:
        return (kind, spec[1], tuple(row_plan(part) for part in spec[2]))
    if kind in ("number", "const"):
        return carry_plan(spec)
    if kind == "again":
        raise Mismatch("AG311", "a list that grows in a loop on data takes one tensor twice", "append a clone")
    raise Mismatch(
        "AG311",
        f"a list that grows in a loop on data takes {describe(spec)}",
        "append tensors and Python numbers, or tuples, dicts and dataclasses of them",
    )


def has_objects(plan: Plan) -> bool:
    """Whether an element is, or holds, something that can be written to, other than tensors."""
    return plan[0] in ("list", "dict", "record") or (plan[0] in _ROWS and any(map(has_objects, plan[2])))


def is_of_numbers(plan: Plan) -> bool:
    """Whether an element is a number, or a tuple of such."""
    return plan[0] == "number" or (plan[0] == "tuple" and all(is_of_numbers(part) for part in plan[2]))


def difference(first: Plan, second: Plan) -> tuple[Plan, Plan]:
    """The first parts in which two plans differ."""
    if first[0] in CONTAINERS and first[:2] == second[:2] and len(first[2]) == len(second[2]):
        for one, other in zip(first[2], second[2], strict=True):
            if one != other:
                return difference(one, other)
    return first, second


def gradients(plan: Plan) -> tuple[bool, ...]:
    """For every leaf of a plan, whether it takes part in differentiation."""
    return tuple(leaf[0] == "tensor" and leaf[4] for leaf in _leaves(plan))


def on_cpu(plan: Plan) -> tuple[bool, ...]:
    """For every leaf of a plan, whether it is a tensor on the CPU. (Numbers and flags are read wherever they are.)"""
    return tuple(leaf[0] == "picked" or (leaf[0] == "tensor" and leaf[3] == "cpu") for leaf in _leaves(plan))


def buffers(plan: Plan) -> tuple[bool, ...]:
    """For every leaf of a plan, whether it is the buffer of a tensor that loses rows: it follows their number."""
    kinds = [leaf[0] for leaf in _leaves(plan)]
    return tuple(before == "shrinking" for before in ["", *kinds[:-1]])


def dimensions_of_rows(plan: Plan) -> tuple[int, ...]:
    """For every leaf of a plan, where the first dimension of the tensor is among those that it travels with."""
    return tuple(leaf[5].index(0) if leaf[0] == "tensor" and leaf[5] is not None else 0 for leaf in _leaves(plan))


def count(plan: Plan) -> int:
    """How many tensors travel for a plan."""
    return sum(1 for _ in _leaves(plan))


def _leaves(plan: Plan) -> Iterator[Plan]:
    """What travels for a plan: tensors, numbers, and the flags in front of values that have one."""
    if plan[0] in FLAGGED:
        yield (plan[0],)
    if plan[0] in CONTAINERS:
        for part in plan[2]:
            yield from _leaves(part)
    elif plan[0] in ("tensor", "number", "picked"):
        yield plan


def join(then: Spec, otherwise: Spec) -> Plan:
    """One plan for the results of two branches."""
    if then[0] == "hole" or otherwise[0] == "hole":
        return only_result(otherwise if then[0] == "hole" else then)
    if then[0] in SHARED and then[:2] == otherwise[:2]:
        return then
    unsure = ("undefined", "maybe")
    if then[0] in unsure or otherwise[0] in unsure:
        return _join_maybe(then, otherwise)
    then, otherwise = _unaliased(then), _unaliased(otherwise)
    if "either" in (then[0], otherwise[0]) and {then[0], otherwise[0]} <= _NUMBER_OR_TENSOR:
        return _either(join(_settled(then), _settled(otherwise)), then, otherwise)
    if then[0] in CONTAINERS or otherwise[0] in CONTAINERS:
        return _join_containers(then, otherwise)
    if then[0] == "tensor" and otherwise[0] == "tensor":
        return _join_tensors(then, otherwise)
    if _same_constant(then, otherwise) or _same_members(then, otherwise):
        return then
    if _is_number(then) and _is_number(otherwise):
        return _join_numbers(then, otherwise)
    for tensor, number in ((then, otherwise), (otherwise, then)):
        if tensor[0] == "tensor" and _is_number(number):
            return _either(_join_number_with_tensor(tensor, number), number)
    if then == otherwise:
        return then
    picked = _join_picked(then, otherwise) if tracing.known().picks else None
    if picked is not None:
        return picked
    raise _different(then, otherwise)


def join_carry(plan: Plan, spec: Spec, sure: bool) -> Plan:
    """The plan of a carry after what one trip makes of it; `sure`: there is at least one trip."""
    kind = plan[0]
    if kind in CONTAINERS and spec[0] == "outer":
        spec = spec[2]
    if (
        kind in CONTAINERS
        and kind != "maybe"
        and spec[0] == kind
        and plan[1] == spec[1]
        and len(plan[2]) == len(spec[2])
    ):
        return (kind, plan[1], tuple(join_carry(a, b, sure) for a, b in zip(plan[2], spec[2], strict=True)))
    if kind == spec[0] == "list" and len(plan[2]) != len(spec[2]):
        raise Mismatch(
            "AG311",
            f"a list of {len(plan[2])} becomes one of {len(spec[2])} in a loop whose number of trips depends on data",
            "write into a tensor of the largest size and count, or loop over a range of known length and `break`",
        )
    if kind == "hole" or (kind == "undefined" and sure):
        return plan if spec[0] in ("undefined", "hole") else only_result(carry_plan(spec))
    if kind in ("same", "again") and spec[:2] == plan[:2]:
        return plan
    if kind == "again":
        return join_carry(plan[2], spec, sure)
    if kind in ("undefined", "maybe"):
        return plan if spec[0] in ("undefined", "hole") else join(plan, filled(carry_plan(_unaliased(spec))))
    if spec[0] == "hole":
        return plan
    if plan == spec:
        return plan
    spec = carry_plan(_unaliased(spec))
    if kind == "shrinking":
        return (kind, plan[1], (join_carry(plan[2][0], spec, sure),))
    if kind == "tensor" and spec[0] == "tensor":
        return _carry_tensors(plan, spec)
    if kind == "number" and spec[0] == "number" and plan != spec:
        if sure and "bool" not in (plan[1], spec[1]):
            return ("number", "float")
        raise Mismatch(
            "AG311",
            f"a loop turns {describe(plan)} into {describe(spec)}, and may make no trip at all",
            "give it its final type before the loop",
        )
    try:
        joined = join(plan, spec)
    except Mismatch as mismatch:
        raise Mismatch("AG311", f"a loop changes the type of a value: {mismatch.message}", mismatch.advice) from None
    return spec if kind == "number" and spec[0] == "tensor" and sure else joined  # the first trip makes it a tensor


def within_reach(plan: Plan) -> Plan:
    """A tensor that comes again travels twice when its first place is none: inside of a choice, a number, left out."""
    places = frozenset(_places(plan, ()))

    def look(part: Plan) -> Plan:
        if part[0] == "again" and part[1] not in places:
            return part[2]  # type: ignore[no-any-return]
        if part[0] in CONTAINERS and part[0] not in ("choice", "shrinking"):
            return (part[0], part[1], tuple(look(one) for one in part[2]))
        return part

    return look(plan)


def _places(plan: Plan, path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Where the tensors and choices of a plan are, without those inside of choices."""
    if plan[0] in ("tensor", "outer", "choice", "shrinking"):
        yield path
    elif plan[0] in CONTAINERS:
        for k, part in enumerate(plan[2]):
            yield from _places(part, (*path, k))


def _carry_tensors(plan: Plan, spec: Spec) -> Plan:
    _, dtype, sizes, device, grad, order = plan
    if (dtype, device) != (spec[1], spec[3]):
        raise Mismatch(
            "AG311",
            f"a loop changes a value from {describe(plan)} to {describe(spec)}",
            "convert it before the loop, so that every trip sees the same dtype and device",
        )
    if _fewer_rows(sizes, spec[2]):
        sizes = (-1, *sizes[1:])
    same = len(sizes) == len(spec[2]) and all(a == b or -1 in (a, b) for a, b in zip(sizes, spec[2], strict=True))
    if not same:
        raise Mismatch(
            "AG311",
            f"a loop changes the shape of a value from {describe(plan)} to {describe(spec)}",
            "allocate it at its final size before the loop, or collect the results in a list of known length",
        )
    return ("tensor", dtype, sizes, device, grad or spec[4], order if order == spec[5] else None)


def _fewer_rows(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether sizes are known to be those of fewer rows."""
    return len(before) == len(after) > 0 and before[1:] == after[1:] and 0 <= after[0] < before[0]


def shrinking(plan: Plan, initial: Spec, leaves: tuple[int, ...]) -> Plan:
    """The plan of a carry in which these leaves have another number of rows after each trip.

    Only tensors that the loop begins with: what is made up in the place of a missing one says nothing about its size.

    Raises:
        Mismatch: their gradients are recorded.
    """
    position = -1

    def look(part: Plan, begin: Spec) -> Plan:
        nonlocal position
        if part[0] in FLAGGED:
            position += count(part)
            return part
        if part[0] in CONTAINERS:
            begin = _unaliased(begin)
            parts = begin[2] if begin[0] == part[0] and len(begin[2]) == len(part[2]) else [("hole",)] * len(part[2])
            return (part[0], part[1], tuple(look(a, b) for a, b in zip(part[2], parts, strict=True)))
        position += count(part)
        if part[0] != "tensor" or position not in leaves or _unaliased(begin)[0] != "tensor":
            return part
        if part[4]:
            raise Mismatch(
                "AG311",
                f"a loop changes the number of rows of {describe(part)} with a gradient",
                "keep all rows and a mask of those in use, or detach it",
            )
        return ("shrinking", "", ((*part[:5], None),))

    return look(plan, initial)


def sharing(plan: Plan, then: Spec, otherwise: Spec) -> Plan:
    """The plan of two branches in which tensors that are one on both sides are one, however the sides know them."""
    sides = tuple(dict(_identities(spec, ())) for spec in (then, otherwise))
    first: dict[tuple[Any, ...], tuple[int, ...]] = {}

    def look(part: Plan, path: tuple[int, ...]) -> Plan:
        if part[0] == "tensor" and all(path in side for side in sides):
            place = first.setdefault(tuple(side.get(side[path], side[path]) for side in sides), path)
            return part if place == path else ("again", place, part)
        if part[0] in CONTAINERS and part[0] not in FLAGGED:
            return (part[0], part[1], tuple(look(one, (*path, k)) for k, one in enumerate(part[2])))
        return part

    return look(plan, ())


def _identities(spec: Spec, path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """What tells the tensors of a description apart, by their places: an object from before, or their first place."""
    if spec[0] in CONTAINERS and spec[0] not in FLAGGED:
        for k, part in enumerate(spec[2]):
            yield from _identities(part, (*path, k))
    elif spec[0] == "again":
        yield path, spec[1]
    elif spec[0] in ("same", "outer") or spec[0] == "tensor":
        yield path, path if spec[0] == "tensor" else spec[:2]
        if spec[0] == "outer" and spec[2][0] in CONTAINERS:
            yield from _identities(spec[2], path)


def _join_containers(then: Spec, otherwise: Spec) -> Plan:
    if then[0] != otherwise[0] or len(then[2]) != len(otherwise[2]):
        raise _different(then, otherwise)
    if then[0] in MAPPINGS and then[1] != otherwise[1]:
        keys = [[key for _, key in side[1]] for side in (then, otherwise)]
        raise Mismatch(
            "AG310",
            f"the branches give dicts with different keys or key orders: {keys[0]} and {keys[1]}",
            "give both branches the same keys in the same order",
        )
    if then[1] != otherwise[1]:
        raise _different(then, otherwise)
    if then[1] is Outcome and then[2][0] != otherwise[2][0]:
        then, otherwise = (("named", Outcome, (HOW, *side[2][1:])) for side in (then, otherwise))
    return (then[0], then[1], tuple(join(a, b) for a, b in zip(then[2], otherwise[2], strict=True)))


def _join_maybe(then: Spec, otherwise: Spec) -> Plan:
    """A variable that one side may leave unbound travels with a flag that says whether it is bound."""
    if then[0] == otherwise[0] == "undefined":
        return then
    inner = [spec[2][0] if spec[0] == "maybe" else spec for spec in (then, otherwise) if spec[0] != "undefined"]
    joined = inner[0] if len(inner) == 1 else join(*inner)
    name = next(spec[1] for spec in (then, otherwise) if spec[0] in ("undefined", "maybe"))
    return ("maybe", name, (only_result(joined),))


def _join_tensors(then: Spec, otherwise: Spec) -> Plan:
    _, dtype, sizes, device, grad, order = then
    if dtype != otherwise[1] or device != otherwise[3] or len(sizes) != len(otherwise[2]):
        raise _different(then, otherwise)
    merged = tuple(a if a == b else -1 for a, b in zip(sizes, otherwise[2], strict=True))
    return ("tensor", dtype, merged, device, grad or otherwise[4], order if order == otherwise[5] else None)


def _join_numbers(then: Spec, otherwise: Spec) -> Plan:
    names = [_number_type(side) for side in (then, otherwise)]
    if names[0] != names[1]:
        raise _different(then, otherwise)
    return ("number", names[0])


def _join_picked(then: Spec, otherwise: Spec) -> Plan | None:
    """The plan of constants of which data pick one: strings, members of enumerations and None. None for others."""
    values: list[Spec] = []
    for spec in (then, otherwise):
        found = spec[1] if spec[0] == "picked" else (spec,)
        if not all(map(_may_be_picked, found)):
            return None
        values += [one for one in found if one not in values]
    return ("picked", tuple(values)) if len(values) <= MOST_PICKED else None


def _may_be_picked(spec: Spec) -> bool:
    return spec[0] == "member" or (spec[0] == "const" and (spec[1] is None or type(spec[1]) is str))


def _join_number_with_tensor(tensor: Spec, number: Spec) -> Plan:
    order = {"bool": 0, "int": 1, "float": 2}
    category = 2 if tensor[1].is_floating_point or tensor[1].is_complex else 0 if tensor[1] == torch.bool else 1
    if tensor[2] != () or order[_number_type(number)] > category:
        raise _different(tensor, number)
    return tensor


def _either(plan: Plan, *sides: Spec) -> Plan:
    """The plan of a tensor that stands for a number of one of the sides on some paths (see either.py)."""
    kinds = joined(kind for side in (plan, *sides) for kind in _kinds(side))
    return ("either", " ".join(kinds), (_settled(plan),))


def _kinds(spec: Spec) -> list[str]:
    """The types of the numbers that a value may be."""
    if spec[0] == "either":
        return spec[1].split()  # type: ignore[no-any-return]
    if not _is_number(spec):
        return []
    return [kind_of(spec[1]) if spec[0] == "const" else _number_type(spec)]


def _settled(spec: Spec) -> Spec:
    return spec[2][0] if spec[0] == "either" else spec


def only_result(spec: Spec) -> Plan:
    """The plan of a value that only one branch gives: the same object stays the same object."""
    if spec[0] in ("same", "outer"):
        return spec
    if spec[0] in CONTAINERS:
        return (spec[0], spec[1], tuple(only_result(part) for part in spec[2]))
    return filled(spec)


def filled(spec: Spec) -> Plan:
    """A plan for a value that one path leaves out: its place is filled with zeros there."""
    if spec[0] in CONTAINERS:
        return (spec[0], spec[1], tuple(filled(part) for part in spec[2]))
    spec = _unaliased(spec)
    if spec[0] == "const" and isinstance(spec[1], (bool, int, float)):
        return ("number", type(spec[1]).__name__)
    return spec


def unaliased(spec: Spec) -> Spec:
    """A description in which no object from around the branch, or earlier in the result, is known again."""
    spec = _unaliased(spec)
    if spec[0] in CONTAINERS:
        return (spec[0], spec[1], tuple(unaliased(part) for part in spec[2]))
    return spec


def _unaliased(spec: Spec) -> Spec:
    return spec[2] if spec[0] in SHARED else spec


def numbers_of_constants(then: Spec, otherwise: Spec, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The places of numbers that two branches pick: different constants, or a constant and what another has picked."""
    if then[0] in CONTAINERS and then[:2] == otherwise[:2] and len(then[2]) == len(otherwise[2]):
        for k, (one, other) in enumerate(zip(then[2], otherwise[2], strict=True)):
            yield from numbers_of_constants(one, other, (*path, k))
    elif "const" in (then[0], otherwise[0]) and then != otherwise:
        if _is_number(then) and _is_number(otherwise):
            yield path


def _is_number(spec: Spec) -> bool:
    return spec[0] == "number" or (spec[0] == "const" and isinstance(spec[1], (bool, int, float)))


def _number_type(spec: Spec) -> str:
    return spec[1] if spec[0] == "number" else type(spec[1]).__name__


def _same_constant(then: Spec, otherwise: Spec) -> bool:
    """Equal in type and value; 0.0 and -0.0 differ, and so do two NaNs, which then travel as numbers."""
    if then[0] != "const" or otherwise[0] != "const":
        return False
    a, b = then[1], otherwise[1]
    return type(a) is type(b) and a == b and repr(a) == repr(b)


def _same_members(then: Spec, otherwise: Spec) -> bool:
    """Whether two sets have the same members, in whatever order they have come in."""
    return then[0] == otherwise[0] == "set" and set(then[1]) == set(otherwise[1])


def _different(then: Spec, otherwise: Spec) -> Mismatch:
    return Mismatch(
        "AG310",
        f"the branches give {describe(then)} and {describe(otherwise)}",
        "make both sides give the same number of values, each with the same dtype and rank",
    )


def takes_apart(plan: Plan, spec: Spec) -> bool:
    """Whether an object that a loop began with gives way to one that a trip has made."""
    if plan[0] in ("object", "thing"):
        return bool(spec[0] == "instance")
    both = plan[0] in CONTAINERS and spec[0] == plan[0] and len(plan[2]) == len(spec[2])
    return both and any(takes_apart(a, b) for a, b in zip(plan[2], spec[2], strict=True))


def describe(spec: Spec) -> str:
    """A spec in words, for messages."""
    kind = spec[0]
    if kind == "tensor":
        sizes = ", ".join("?" if size == -1 else str(size) for size in spec[2])
        return f"a {str(spec[1]).removeprefix('torch.')} tensor of shape ({sizes})"
    if kind == "number":
        return f"a Python {spec[1]}"
    if spec == ("const", MISSING):
        return "no such attribute"
    if kind == "const":
        return f"the Python {type(spec[1]).__name__} {spec[1]!r}" if spec[1] is not None else "None"
    if kind == "member":
        return f"a member of {spec[2]}"
    if kind in SHARED:
        return describe(spec[2])
    if kind in ("either", "shrinking"):
        return describe(spec[2][0])
    if kind == "undefined":
        return f"no value for `{spec[1]}`"
    if kind in ("open", "open contents"):
        return "a list or dict whose content depends on data"
    if kind == "set":
        return f"a set of {len(spec[1])}"
    if kind == "defaultdict":
        return f"a defaultdict of {len(spec[2][0][2])}"
    if kind == "attributed":
        return f"an OrderedDict of {len(spec[2][0][2])} with the attributes {', '.join(spec[2][1][1])}"
    if kind in ("choice", "picked"):
        return " or ".join(map(describe, spec[-1]))
    if kind in CONTAINERS:
        if kind == "instance":
            return f"an object of {spec[1][0].__name__} with the attributes {', '.join(spec[1][1])}"
        label = {"named": "namedtuple", "record": "dataclass"}.get(kind, kind)
        return f"a {MAPPINGS[kind].__name__ if kind in MAPPINGS else label} of {len(spec[2])}"
    return str(spec[-1])
