"""Lists, dicts and objects that a body hands out in two places: behind the operator each place has its own.

    if p:                       in eager `rows[0]` and `rows[1]` are one list, and so are `a` and `b`;
        rows = [[x]] * 2        the operator gives tensors, of which two lists are made
        a = b = [x]

As long as nobody writes to one of them, or asks whether they are one, that makes no difference. Where somebody does,
it is refused at the line of the branch or loop: the next trace may follow the paths apart (capture/attempts.py).

What is left in two places when the call ends is one object again, if a branch of the outermost level has given it: its
flag tells which branch that was, and behind the graph Python puts the object of the first place into the second. Where
a loop or an inner branch has given it, and both are left, that is refused, too.

Private: PyCodegen.__call__. tests/capture/test_two_places.py shows what is left without it.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from torch._dynamo.codegen import PyCodegen
from torch._dynamo.variables import (
    BaseListVariable,
    ConstDictVariable,
    TensorVariable,
    TupleVariable,
    UserDefinedObjectVariable,
)
from torch._dynamo.variables.base import AttributeMutationNew, VariableTracker
from torch._guards import TracingContext

from autograph_torch.capture.choices import ChosenVariable, is_of_one_type
from autograph_torch.capture.grown import is_grown
from autograph_torch.capture.open_contents import is_open
from autograph_torch.capture.patching import patched
from autograph_torch.capture.replacing import as_tuple
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import refusal_at
from autograph_torch.runtime.values import Maybe

Place = tuple[Any, ...]
Line = tuple[str, int]


def note_handed_out(site: str, value: Any, effects: Any) -> None:
    """Remember the objects in a body's results, each with its place."""
    body = tracing.body_of(tracing.current_tracer())
    tracing.notebook().setdefault((site, "two places"), {})[body] = list(_mutable(value, effects))


def note_given(site: str, value: Any, flag: Any, output: Any) -> None:
    """What an operator gives in these places are two objects, each of them in the place of one.

    flag: that of a branch.
    """
    effects = output.side_effects
    by_body = tracing.notebook().pop((site, "two places"), {})
    last = output.current_tracer.parent is None and not is_of_one_type()
    if isinstance(flag, TensorVariable) and last:
        for which, body in enumerate(("otherwise", "then")):
            for item, places in _places(by_body.get(f"{site}.{body}", ())).items():
                _note_one(item, [list(_at(value, place, effects)) for place in places], flag, which)
    pairs = [pair for handed in by_body.values() for pair in _pairs(handed)]
    results = dict(_mutable(value, effects)) if pairs else {}
    line = tracing.user_line()[:2]
    for pair in pairs:
        found = [results[place] for place, _ in pair if place in results]
        if len(found) == 2 and found[0] is found[1]:
            continue
        for item in found:
            _lines()[item] = line
            _known()[item] = _one_of(found[0])
        if last:
            _note_left([(item, list(_at(value, place, effects))) for place, item in pair], line)


def _places(handed: Iterable[tuple[Place, Any]]) -> dict[Any, list[Place]]:
    """By object: all its places."""
    places: dict[Any, list[Place]] = {}
    for place, item in handed:
        places.setdefault(item, []).append(place)
    return places


def _pairs(handed: Iterable[tuple[Place, Any]]) -> Iterator[list[tuple[Place, Any]]]:
    """Two places of what is one in eager, or may be, each with the object of the body."""
    first: dict[Any, tuple[Place, Any]] = {}
    for place, item in handed:
        if first.setdefault(_one_of(item), (place, item))[0] != place:
            yield [first[_one_of(item)], (place, item)]


def _note_one(item: Any, given: list[list[Any]], flag: Any, which: int) -> None:
    """Behind the graph, what stands in several places is one object where a branch has been taken that has it there.

    item: that object in the body. given: by place, what the operator gives there: several, where Python picks.
    """
    found = [one for one, *others in filter(None, given) if not others]
    one, *copies = [item, *found] if item.source is not None else found or [item]
    for copy in copies:
        if copy is not one:
            _twins().setdefault(copy, ChosenVariable(flag, [copy, copy])).values[which] = one
    _made_one().update(itertools.product([one, *copies], repeat=2))


def _note_left(given: list[tuple[Any, list[Any]]], line: Line) -> None:
    """When the call ends, what two places have may not both be left where nothing makes them one.

    given: for two places, the object in the body, and what the operator gives there.
    """
    if all(item in there for item, there in given):
        return  # it has handed them through
    (item, _), (same, _) = given
    for one, other in itertools.product(*(there for _, there in given)):
        if one is not other and (item is not same or (one, other) not in _made_one()):
            _apart().setdefault(one, {})[other] = _apart().setdefault(other, {})[one] = line


def _at(value: Any, place: Place, effects: Any) -> Iterator[Any]:
    """The objects made in the trace that stand at a place of a body's results: Python may pick from several."""
    value = as_tuple(value.realize())
    if isinstance(value, ChosenVariable):
        for one in value.values:
            yield from _at(one, place, effects)
        return
    found = _parts(value, effects)
    parts = dict(found or ())
    if isinstance(value, UserDefinedObjectVariable) and value.python_type() is Maybe:
        yield from _at(parts["value"], place, effects)
    elif not place:
        if found is not None and not isinstance(value, TupleVariable) and value.source is None:
            yield value
    elif place[0] in parts:
        yield from _at(parts[place[0]], place[1:], effects)


@contextlib.contextmanager
def one_behind_the_graph() -> Iterator[None]:
    """While this is in force, the bytecode behind the graph makes one object of two."""
    generate = PyCodegen.__call__
    under_way: set[Any] = set()
    generated: set[Any] = set()

    def generate_one(self: Any, value: Any, *args: Any, **kwargs: Any) -> None:
        _check_apart(value, generated)
        twin = _twins().get(value) if isinstance(value, VariableTracker) and value not in under_way else None
        if twin is None or not all(map(_is_alive, twin.values)):
            generate(self, value, *args, **kwargs)
            return
        under_way.add(value)
        try:
            generate(self, twin)
        finally:
            under_way.remove(value)

    with patched(PyCodegen, __call__=generate_one):
        yield


def _check_apart(value: Any, generated: set[Any]) -> None:
    """Two objects may not be left behind the call where eager has one."""
    apart = _apart().get(value) if isinstance(value, VariableTracker) else None
    if apart is None:
        return
    generated.add(value)
    for other, line in apart.items():
        if other in generated:
            message = "what this gives in two places is one object, and the call leaves it in both"
            raise refusal_at(*line, "AG314", message, "copy it for the second place")


def _is_alive(item: Any) -> bool:
    """Whether an object is made behind the graph: one that nothing leads to is not."""
    return not isinstance(item.mutation_type, AttributeMutationNew) or item.source is not None


def _twins() -> dict[Any, ChosenVariable]:
    """By what stands in a second place: what Python puts there."""
    return _of_the_trace("one behind the graph", {})


def _made_one() -> set[tuple[Any, Any]]:
    """What Python makes one behind the graph, where a branch has one."""
    return _of_the_trace("made one", set())


def _apart() -> dict[Any, dict[Any, Line]]:
    """By what is given: what is given in other places of the same object, and where."""
    return _of_the_trace("left apart", {})


def line_of(item: Any) -> Line | None:
    """Where the branch or loop stands that has given an object in two places."""
    return _lines().get(item)


def _one_of(item: Any) -> Any:
    """The object that stands for all that are one in eager."""
    return _known().get(item, item)


def _known() -> dict[Any, Any]:
    return _of_the_trace("one in eager", {})


def _lines() -> dict[Any, Line]:
    return _of_the_trace("lines of places", {})


def _of_the_trace(key: str, empty: Any) -> Any:
    return tracing.notebook().setdefault(key, empty) if TracingContext.try_get() is not None else empty


def _mutable(
    variable: Any, effects: Any, place: Place = (), around: tuple[Any, ...] = ()
) -> Iterator[tuple[Place, Any]]:
    """The lists, dicts and objects made in the trace that are in a value, each with its place."""
    variable = as_tuple(variable.realize())
    if variable in around or is_grown(variable):
        return
    parts = _parts(variable, effects)
    if parts is None:
        return
    if isinstance(variable, UserDefinedObjectVariable) and variable.python_type() is Maybe:
        yield from _mutable(dict(parts)["value"], effects, place, around)
        return
    if not isinstance(variable, TupleVariable):
        yield place, variable
    for key, part in parts:
        yield from _mutable(part, effects, (*place, key), (*around, variable))


def _parts(variable: Any, effects: Any) -> list[tuple[Any, Any]] | None:
    """What is in it; None where it is nothing that can be written to."""
    if is_open(variable):
        return []
    if isinstance(variable, BaseListVariable):
        return list(enumerate(variable.items))
    if isinstance(variable, ConstDictVariable):
        return list(enumerate(variable.items.values()))
    if isinstance(variable, UserDefinedObjectVariable):
        if not isinstance(variable.mutation_type, AttributeMutationNew):
            return []
        return list(effects.store_attr_mutations.get(variable, {}).items())
    return None
