"""Lists, dicts and objects that a body hands out in two places: behind the operator each place has its own.

    if p:                       in eager `rows[0]` and `rows[1]` are one list, and so are `a` and `b`;
        rows = [[x]] * 2        the operator gives tensors, of which two lists are made
        a = b = [x]

As long as nobody writes to one of them, or asks whether they are one, that makes no difference. Where somebody does,
it is refused at the line of the branch or loop: the next trace may follow the paths apart (capture/attempts.py).

What was there before the body has one more place, where it was: `last = rows[0]`, and `if p: last = [x]`.

What is left in two places when the call ends is one object again, if a branch of the outermost level has given it: its
flag tells which branch that was, and behind the graph Python puts the object of the first place into the second. Where
a loop or an inner branch has given it, and both are left, that is refused, too.

Private: PyCodegen.__call__. tests/capture/test_two_places.py shows what is left without it.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from torch._dynamo.codegen import PyCodegen
from torch._dynamo.current_scope_id import current_scope_id
from torch._dynamo.variables import (
    TensorVariable,
    TupleVariable,
    UserDefinedObjectVariable,
)
from torch._dynamo.variables.base import AttributeMutationNew, VariableTracker
from torch._guards import TracingContext

from autograph_torch.capture.choices import ChosenVariable, alternatives, is_of_one_type
from autograph_torch.capture.contents import as_tuple
from autograph_torch.capture.element_containers import note_given_behind
from autograph_torch.capture.grown import is_grown
from autograph_torch.capture.parts import SOMEWHERE, parts, picked_from
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import refusal_at
from autograph_torch.runtime.values import Maybe

Place = tuple[Any, ...]
_BEFORE = ("before",)  # the place of what was there before the body
Line = tuple[str, int]


@dataclass(frozen=True)
class Twin:
    """What Python puts into a second place.

    flag: that of the branch. ones: by what it is, all that is one object on that path; the first that is made stands
    for the others.
    """

    flag: Any
    ones: list[list[Any]]


def note_handed_out(site: str, value: Any, effects: Any, stood_in_for: dict[Any, Any]) -> None:
    """Remember the objects in a body's results, each with its place.

    What was there before the body has one more place: where it was.

    stood_in_for: by copy of the body, the list or dict from around it.
    """
    body = tracing.body_of(tracing.current_tracer())
    _known().update((copy, one) for copy, one in stood_in_for.items() if _one_of(one) is not copy)
    handed = [(place, stood_in_for.get(item, item)) for place, item in _mutable(value, effects)]
    ones = dict.fromkeys(one for _, item in handed for one in (item, _one_of(item)))
    before = [(_BEFORE, one) for one in ones if _is_known_here(one, bodies=1)]
    tracing.notebook().setdefault((site, "two places"), {})[body] = before + handed


def _is_known_here(item: Any, bodies: int = 0) -> bool:
    """Whether it is no object of a body inside; with `bodies`, whether it was there so many levels above."""
    return item.mutation_type is not None and item.mutation_type.scope <= current_scope_id() - bodies


def note_given(site: str, value: Any, flag: Any, output: Any) -> list[tuple[Any, list[Any]]]:
    """What an operator gives in these places are two objects, each of them in the place of one.

    flag: that of a branch.

    Returns: what was there before, each with what may be a copy of it. (Of writes to them: field_writes.py.)
    """
    effects = output.side_effects
    by_body = tracing.notebook().pop((site, "two places"), {})
    handed_out = {item for handed in by_body.values() for _, item in handed}

    def given(place: Place, item: Any) -> list[Any]:
        return _given(value, place, item, handed_out, effects)

    last = output.current_tracer.parent is None and not is_of_one_type()
    if isinstance(flag, TensorVariable) and last:
        for which, body in enumerate(("otherwise", "then")):
            for item, places in _places(by_body.get(f"{site}.{body}", ())).items():
                _note_one([given(place, item) for place in places], flag, which)
    pairs = [pair for handed in by_body.values() for pair in _pairs(handed)]
    results = _by_place(value, effects) if pairs else {}
    line, copies = tracing.user_line()[:2], []
    for (first, item), (second, same) in pairs:
        found = results.get(second, [])
        if first != _BEFORE:
            _note_written(results.get(first, []), found, line)
        elif same is item and item in found and SOMEWHERE not in second:
            continue  # where it is that object, it is the very one
        else:
            _known().update((one, _one_of(item)) for one in given(second, same))
            copies.append((item, found))
        if last:
            _note_left([(item, given(first, item)), (same, given(second, same))], line)
    return copies


def given_for(site: str, value: Any, effects: Any) -> Iterator[tuple[Any, list[Any]]]:
    """The objects that bodies have handed out, each with what the operator gives in its place."""
    results = _by_place(value, effects)
    for handed in tracing.notebook().get((site, "two places"), {}).values():
        for place, item in handed:
            yield item, results.get(place, [])


def _by_place(value: Any, effects: Any) -> dict[Place, list[Any]]:
    results: dict[Place, list[Any]] = {}
    for place, item in _mutable(value, effects):
        results.setdefault(place, []).append(item)
    return results


def _note_written(first: list[Any], second: list[Any], line: Line) -> None:
    """What an operator gives in two places may not be written to, unless it is one object there, too."""
    if not second or not first or any(one is not other for one, other in itertools.product(first, second)):
        for item in (*first, *second):
            _lines()[item] = line
            _known()[item] = _one_of([*first, *second][0])


def note_replaced(one: Any, other: Any) -> None:
    """Behind a loop, an object may be one from before it: both may not be left where nothing makes them one."""
    if one is not other:
        _known()[other] = _one_of(one)
        if tracing.current_tracer().parent is None:
            _note_left([(one, [one]), (one, [other])], tracing.user_line()[:2])


def _places(handed: Iterable[tuple[Place, Any]]) -> dict[Any, list[Place]]:
    """By object: all the places where nothing else can be in this body."""
    handed = list(handed)
    items = Counter(place for place, _ in handed if place != _BEFORE)
    places: dict[Any, list[Place]] = {}
    for place, item in handed:
        if items[place] < 2:
            places.setdefault(item, []).append(place)
    return places


def _pairs(handed: Iterable[tuple[Place, Any]]) -> Iterator[tuple[tuple[Place, Any], tuple[Place, Any]]]:
    """Two places of what is one in eager, or may be, each with the object of the body."""
    found: dict[Any, list[tuple[Place, Any]]] = {}
    for place, item in handed:
        found.setdefault(_one_of(item), []).append((place, item))
    for places in found.values():
        yield from ((one, other) for one, other in itertools.combinations(places, 2) if one[0] != other[0])


def _given(value: Any, place: Place, item: Any, handed_out: set[Any], effects: Any) -> list[Any]:
    """What an operator gives in the place of an object of a body: several, where Python picks and nothing tells which.

    handed_out: what the bodies have handed out. Those of these objects that stand here are no copies of another.
    """
    if place == _BEFORE:
        return [item]
    found = list(dict.fromkeys(_at(value, place, effects)))
    if item in found:
        return [item]
    return [one for one in found if one.source is None and one not in handed_out]


def _note_one(given: list[list[Any]], flag: Any, which: int) -> None:
    """Behind the graph, what stands in several places is one object where a branch has been taken that has it there.

    given: by place, what the operator gives there: several, where Python picks.
    """
    ones = list(dict.fromkeys(one for one, *others in filter(None, given) if not others))
    for copy in ones[1:]:
        _twins().setdefault(copy, Twin(flag, [[copy], [copy]])).ones[which] = ones
    _made_one().update(itertools.product(ones, repeat=2))


def _note_left(given: list[tuple[Any, list[Any]]], line: Line) -> None:
    """When the call ends, what two places have may not both be left where nothing makes them one.

    given: for two places, the object in the body, and what the operator gives there.
    """
    if all(item in there for item, there in given):
        return  # it has handed them through
    (item, _), (same, _) = given
    for one, other in itertools.product(*(there for _, there in given)):
        if not _are_made_one(one, other) if item is same else not _are_put_right(item, one, same, other):
            _apart().setdefault(one, {})[other] = _apart().setdefault(other, {})[one] = line


def _are_made_one(one: Any, other: Any) -> bool:
    return one is other or (one, other) in _made_one()


def _are_put_right(item: Any, one: Any, same: Any, other: Any) -> bool:
    """Whether two objects from before, which may be one, stay so in the places that they have got."""
    if not (_is_known_here(item) and _is_known_here(same)) or same in _apart().get(item, ()):
        return False
    return _are_made_one(item, one) and _are_made_one(same, other)


def _at(value: Any, place: Place, effects: Any) -> Iterator[Any]:
    """The objects that stand at a place of a body's results: Python may pick from several."""
    value = as_tuple(value.realize())
    values = picked_from(value, effects)
    if values is not None:
        for one in values:
            yield from _at(one, place, effects)
        return
    found = parts(value, effects)
    if isinstance(value, UserDefinedObjectVariable) and value.python_type() is Maybe:
        yield from _at(dict(found or ())["value"], place, effects)
    elif not place:
        if found is not None and not isinstance(value, TupleVariable):
            yield value
    else:
        for key, part in found or ():
            if key == place[0]:
                yield from _at(part, place[1:], effects)


@contextlib.contextmanager
def one_behind_the_graph() -> Iterator[None]:
    """While this is in force, the bytecode behind the graph makes one object of two."""
    generate = PyCodegen.__call__
    under_way: set[Any] = set()
    generated: set[Any] = set()

    def generate_one(self: Any, value: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(value, VariableTracker):
            note_given_behind(value)
            _check_apart(value, generated)
        twin = _twins().get(value) if isinstance(value, VariableTracker) and value not in under_way else None
        values = [next(filter(_is_alive, ones), value) for ones in twin.ones] if twin is not None else []
        if twin is None or all(one is value for one in values):
            generate(self, value, *args, **kwargs)
            return
        under_way.add(value)
        try:
            generate(self, ChosenVariable(twin.flag, values))
        finally:
            under_way.remove(value)

    with patched(PyCodegen, __call__=generate_one):
        yield


def note_attribute_written(item: Any) -> None:
    """What may be this object in eager does not see the write: it may not be left alone, either."""
    _stale().update(_apart().get(item, {}))


def _check_apart(value: Any, generated: set[Any]) -> None:
    """Two objects may not be left behind the call where eager has one."""
    if value in _stale():
        message = "what this gives may be an object from before, which is written to afterwards"
        raise refusal_at(*_stale()[value], "AG314", message, "copy it before")
    apart = _apart().get(value)
    if apart is None:
        return
    generated.add(value)
    for other, line in apart.items():
        if other in generated or _is_callers(other):
            message = "what this gives in two places is one object, and the call leaves it in both"
            raise refusal_at(*line, "AG314", message, "copy it for the second place")


def _is_callers(item: Any) -> bool:
    """Whether it was there before the call: what the trace makes has a source, too, once it is made behind it."""
    return item.source is not None and not isinstance(item.mutation_type, AttributeMutationNew)


def _is_alive(item: Any) -> bool:
    """Whether an object is made behind the graph: one that nothing leads to is not."""
    return not isinstance(item.mutation_type, AttributeMutationNew) or item.source is not None


def _twins() -> dict[Any, Twin]:
    """By what stands in a second place: what Python puts there."""
    return _of_the_trace("one behind the graph", {})


def _made_one() -> set[tuple[Any, Any]]:
    """What Python makes one behind the graph, where a branch has one."""
    return _of_the_trace("made one", set())


def _apart() -> dict[Any, dict[Any, Line]]:
    """By what is given: what is given in other places of the same object, and where."""
    return _of_the_trace("left apart", {})


def _stale() -> dict[Any, Line]:
    """What may be an object that has been written to since, and where it was given."""
    return _of_the_trace("written to apart", {})


def line_of(item: Any) -> Line | None:
    """Where the branch or loop stands that has given an object in two places."""
    return _lines().get(item)


def _one_of(item: Any) -> Any:
    """The object that stands for all that are one in eager."""
    known = _known()
    while known.get(item, item) is not item:
        item = known[item]
    return item


def _known() -> dict[Any, Any]:
    return _of_the_trace("one in eager", {})


def _lines() -> dict[Any, Line]:
    return _of_the_trace("lines of places", {})


def _of_the_trace(key: str, empty: Any) -> Any:
    return tracing.notebook().setdefault(key, empty) if TracingContext.try_get() is not None else empty


def _mutable(
    variable: Any, effects: Any, place: Place = (), around: tuple[Any, ...] = ()
) -> Iterator[tuple[Place, Any]]:
    """The lists, dicts and objects made in the trace that are in a value, each with its place.

    Where data pick the value, those of all that it may be, in the places that they have then.
    """
    variable = as_tuple(variable.realize())
    if variable in around or is_grown(variable):
        return
    values = alternatives(variable, effects)
    if values is not None:
        for one in values:
            yield from _mutable(one, effects, place, around)
        return
    inner = parts(variable, effects)
    if inner is None:
        return
    if isinstance(variable, UserDefinedObjectVariable) and variable.python_type() is Maybe:
        yield from _mutable(dict(inner)["value"], effects, place, around)
        return
    if not isinstance(variable, TupleVariable):
        yield place, variable
    for key, part in inner:
        yield from _mutable(part, effects, (*place, key), (*around, variable))
