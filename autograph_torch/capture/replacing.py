"""Which lists, dicts and objects of what a loop carries a trip puts others in the place of (see runtime/carried.py).

The copies that a trip works on are compared, place by place, at its begin and at its end. What cannot be told behind
the loop is refused: a list that is written to before another takes its place, one that is in two places, and one that
a name of the carry leads to.

A name that the loop rebinds is carried as a value. Where a trip writes to the object itself before it binds the name
anew, what the loop began with is written to as well, in eager; here it is not. So nobody may use it any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch._dynamo.current_scope_id import current_scope_id
from torch._dynamo.variables import (
    BaseListVariable,
    ConstDictVariable,
    ListVariable,
    TupleVariable,
    UserDefinedObjectVariable,
)

from autograph_torch.capture.contents import as_tuple, take_away
from autograph_torch.capture.grown import is_grown
from autograph_torch.capture.open_contents import is_open
from autograph_torch.runtime import carried, tracing
from autograph_torch.runtime.memories import TRIP
from autograph_torch.runtime.outside import INSIDE
from autograph_torch.runtime.refusal import raise_refusal

Place = tuple[Any, ...]


def fill_in_replacing(code: Any, parent: Any, arguments: dict[str, Any]) -> None:
    """Do the work of the empty functions of runtime/carried.py when the tracer is about to enter one of them."""
    tracer = parent.output.current_tracer
    if code is carried.begin_trip.__code__:
        copies = arguments["copies"].realize()
        tracer.__dict__["_autograph_trip"] = [(place, one, _items(one)) for place, one in containers_in(copies)]
        tracer.__dict__["_autograph_inside"] = _from_before(copies)
        tracer.__dict__[TRIP] = arguments["site"].as_python_constant()
        tracer.__dict__["_autograph_carried"] = _carried(arguments["initial"], arguments["state"])
        for one in tracing.stale_at(tracer.__dict__[TRIP]):
            take_away(one, tracer)
    elif code is carried.begin_test.__code__:
        tracer.__dict__["_autograph_carried"] = _carried(arguments["initial"], arguments["state"])
    elif code is carried.end_loop.__code__:
        for one in tracing.stale_at(arguments["site"].as_python_constant()):
            _refuse_callers(one)
            take_away(one, None)
    elif code is carried.end_trip.__code__:
        begun = tracer.__dict__["_autograph_trip"]
        ended = [(place, _copy(tracer, one)) for place, one in containers_in(arguments["copies"].realize())]
        others = [_copy(tracer, one) for _, one in containers_in(arguments["others"].realize())]
        _check(begun, ended, others)
        site = arguments["site"].as_python_constant()
        tracing.notebook().setdefault((site, "replaced"), set()).update(_replaced(begun, dict(ended)))
        _note_others(site, tracer.__dict__["_autograph_inside"], arguments["copies"])
        tracer.__dict__["_autograph_carried"] = {}


def _from_before(copies: Any) -> dict[Place, Any]:
    """The objects in lists and dicts that were there before the trip, each with its place."""
    inside = ((place, one) for place, one in objects_in(copies) if isinstance(one, UserDefinedObjectVariable))
    return {place: one for place, one in inside if one.mutation_type and one.mutation_type.scope < current_scope_id()}


def _note_others(site: str, begun: dict[Place, Any], copies: Any) -> None:
    """Objects that a trip has put others in the place of do not stay themselves: the loop is traced again."""
    ended, known = dict(objects_in(copies)), tracing.replaced_objects(site + INSIDE)
    new = {place for place, one in begun.items() if ended.get(place) is not one} - known
    if new:
        known.update(new)
        tracing.notebook()[site, "others inside"] = True


def note_carried_write(tracer: Any, item: Any) -> None:
    """A body writes to an object that it has made, which may be what a loop carries."""
    initial = tracer.__dict__.get("_autograph_carried", {}).get(item)
    if initial is None:
        return
    tracer.__dict__["_autograph_written_to"] = True
    if TRIP in tracer.__dict__:
        tracing.stale_at(tracer.__dict__[TRIP])[initial] = None


def _carried(initial: Any, state: Any) -> dict[Any, Any]:
    """What a trip has in the place of objects that the loop begins with -> those."""
    before = dict(objects_in(initial))
    return {one: before[place] for place, one in objects_in(state) if before.get(place, one) is not one}


def objects_in(variable: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """The objects that can be written to in a value, with their places."""
    variable = as_tuple(variable.realize())
    if is_grown(variable):
        return  # it stays the object that it is
    if isinstance(variable, UserDefinedObjectVariable):
        yield place, variable
    elif isinstance(variable, (BaseListVariable, ConstDictVariable)):
        if not isinstance(variable, TupleVariable):
            yield place, variable
        for k, item in enumerate([] if is_open(variable) else _items(variable)):
            yield from objects_in(item, (*place, k))


def _refuse_callers(item: Any) -> None:
    if item.source is not None or item.mutation_type is None or item.mutation_type.scope != current_scope_id():
        raise_refusal(
            "AG206",
            "a loop writes to an object that others have, too, and binds its name to another one",
            "make a copy of it before the loop",
        )


def _check(begun: list[Any], ended: list[Any], others: list[Any]) -> None:
    twice = len({one for _, one in ended}) < len(ended)
    if twice or any(one is other for _, one in ended for other in others):
        raise_refusal(
            "AG206",
            "after a trip of this loop a list or dict that it writes to has two names or places",
            "copy it: `xs = list(xs)`",
        )


def _replaced(begun: list[Any], ended: dict[Place, Any]) -> Iterator[Place]:
    for place, one, items in begun:
        if ended.get(place) is one:
            continue
        if len(items) != len(_items(one)) or any(a is not b for a, b in zip(items, _items(one), strict=True)):
            raise_refusal(
                "AG206",
                "a loop writes to a list or dict that is inside of another, and puts a new one in its place",
                "write to the inner one only, or make a new one only",
            )
        if any(one is moved for moved in ended.values()):
            raise_refusal(
                "AG206",
                "lists or dicts inside of another change their places in this loop",
                "exchange what is in them: `a[:], b[:] = b[:], a[:]`",
            )
        yield place


def containers_in(variable: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """The lists and dicts in a value, with their places."""
    variable = as_tuple(variable.realize())
    if is_grown(variable):
        return
    if isinstance(variable, (ListVariable, ConstDictVariable)):
        yield place, variable
    if is_open(variable):
        return
    if isinstance(variable, BaseListVariable):
        for k, item in enumerate(variable.items):
            yield from containers_in(item, (*place, k))
    elif isinstance(variable, ConstDictVariable):
        for key, item in variable.items.items():
            yield from containers_in(item, (*place, key.vt.as_python_constant()))


def _items(container: Any) -> list[Any]:
    items = container.items.values() if isinstance(container, ConstDictVariable) else container.items
    return [item.realize() for item in items]


def _copy(tracer: Any, container: Any) -> Any:
    """The copy that stands for a container in the body, else itself."""
    return next((copy for one, _, copy in tracing.shared_contents(tracer) if one is container), container)
