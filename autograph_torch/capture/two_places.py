"""Lists, dicts and objects that a body hands out in two places: behind the operator each place has its own.

    if p:                       in eager `rows[0]` and `rows[1]` are one list, and so are `a` and `b`;
        rows = [[x]] * 2        the operator gives tensors, of which two lists are made
        a = b = [x]

As long as nobody writes to one of them, or asks whether they are one, that makes no difference. Where somebody does,
it is refused at the line of the branch or loop: the next trace may follow the paths apart (capture/attempts.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import BaseListVariable, ConstDictVariable, TupleVariable, UserDefinedObjectVariable
from torch._dynamo.variables.base import AttributeMutationNew
from torch._guards import TracingContext

from autograph_torch.capture.grown import is_grown
from autograph_torch.capture.open_contents import is_open
from autograph_torch.capture.replacing import as_tuple
from autograph_torch.runtime import tracing
from autograph_torch.runtime.values import Maybe

Place = tuple[Any, ...]
Line = tuple[str, int]


def note_handed_out(site: str, value: Any, effects: Any) -> None:
    """Remember the places of a body's results that hold the same object."""
    first: dict[Any, Place] = {}
    pairs = tracing.notebook().setdefault((site, "two places"), [])
    for place, item in _mutable(value, effects):
        one = _one_of(item)
        if one in first:
            pairs.append((first[one], place))
        else:
            first[one] = place


def note_given(site: str, value: Any, effects: Any) -> None:
    """What an operator gives in these places are two objects, each of them in the place of one."""
    pairs = tracing.notebook().pop((site, "two places"), [])
    results = dict(_mutable(value, effects)) if pairs else {}
    line = tracing.user_line()[:2]
    for places in pairs:
        found = [results[place] for place in places if place in results]
        if len(found) == 2 and found[0] is found[1]:
            continue
        for item in found:
            _lines()[item] = line
            _known()[item] = _one_of(found[0])


def line_of(item: Any) -> Line | None:
    """Where the branch or loop stands that has given an object in two places."""
    return _lines().get(item)


def _one_of(item: Any) -> Any:
    """The object that stands for all that are one in eager."""
    return _known().get(item, item)


def _known() -> dict[Any, Any]:
    return _of_the_trace("one in eager")


def _lines() -> dict[Any, Line]:
    return _of_the_trace("lines of places")


def _of_the_trace(key: str) -> dict[Any, Any]:
    return tracing.notebook().setdefault(key, {}) if TracingContext.try_get() is not None else {}


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
