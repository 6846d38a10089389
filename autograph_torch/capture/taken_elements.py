"""A loop that data may leave early takes all elements before its first trip; what tells that from eager is refused.

    for v in values:            what a generator does between two elements is done beforehand
        total += v
        if total > 4: break     the trips that eager does not come to have taken their elements, too

So a generator may neither print, draw random numbers nor write to what was there before, and may not see what the trips
write to; nor may an iterator go on forever. An element of a list, or a value of a dict, is what is there when its trip
begins (also in the pairs of `items`, `enumerate` and `zip`).

Private: the frame of a generator (`inline_tracer`), SideEffects.store_attr_mutations, `fn` of `map` and `filter`.
tests/capture/test_advanced_iterators.py fails clearly when torch changes them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo.variables import (
    ConstantVariable,
    ConstDictVariable,
    SetVariable,
    TensorVariable,
    TupleVariable,
    UserDefinedObjectVariable,
)
from torch._dynamo.variables.functions import LocalGeneratorObjectVariable, NestedUserFunctionVariable
from torch._dynamo.variables.iter import FilterVariable, MapVariable
from torch._dynamo.variables.lazy import LazyVariableTracker
from torch._dynamo.variables.lists import BaseListVariable, DequeVariable, ListIteratorVariable
from torch._dynamo.variables.misc import CellVariable

from autograph_torch.capture.graph_writes import storage_at, written
from autograph_torch.capture.held import held
from autograph_torch.capture.identity import is_same
from autograph_torch.capture.open_contents import Open
from autograph_torch.runtime import iteration, structure, tracing
from autograph_torch.runtime.gradients import draws_random_numbers
from autograph_torch.runtime.refusal import raise_refusal

_CONTAINERS = (BaseListVariable, ConstDictVariable, SetVariable)
AS_A_LIST = "make a list of it before the loop"
MADE_OF = "_autograph_made_of"  # of an iterator: the list or dict that it runs over
TORCH = os.path.dirname(torch.__file__) + os.sep
_MOST_TAKEN = 1024  # elements that a trace follows one by one
_ENDLESS = f"a loop that data may leave early runs over an iterator of more than {_MOST_TAKEN} elements"
_DOES_MORE = (
    "a loop that data may leave early runs over a generator that prints, or writes to what was there before, or draws "
    "random numbers"
)
SEES_WRITES = "a loop that data may leave early writes to what it runs over, or to what the generator sees"
KEPT = "an iterator is kept that a loop has run over which data may leave early"
_WRITES_AHEAD = "a loop that data may leave early writes to elements that it has yet to come to"


@dataclass
class _Taking:
    """One loop that takes all elements before its first trip.

    attributes, contents: of objects, lists and dicts from outside of the trace, what was in them before.
    seen: what its generators can see, how it is asked what is in it, and what was in it before.
    taken: how many elements each iterator has given.
    places: where values lay that have been taken since the last element: (list or dict, index or key, value).
    """

    mark: Any
    attributes: dict[Any, dict[str, Any]]
    contents: dict[Any, tuple[Open | None, Any]]
    seen: list[tuple[Any, Callable[[Any], Any], Any]] = field(default_factory=list)
    taken: dict[Any, int] = field(default_factory=dict)
    places: list[tuple[Any, Any, Any]] = field(default_factory=list)
    taking: bool = True


def fill_in_taking(code: Any, parent: Any, arguments: dict[str, Any]) -> None:
    """Do the work of iteration.begin_taking, end_taking and end_trips when the tracer is about to enter one of them."""
    if code is iteration.begin_taking.__code__:
        effects = parent.output.side_effects
        attributes = {item: dict(names) for item, names in effects.store_attr_mutations.items()}
        contents = {value: _content(value) for value in _containers(effects)}
        one = _Taking(tracing.last_node(), attributes, contents)
        _see(arguments["iterable"].realize(), _length, one)
        _under_way().append(one)
    elif code is iteration.number_of_taken.__code__:
        arguments["found"] = ConstantVariable.create(_number(_under_way()[-1]))
    elif code is iteration.what_is_there.__code__:
        tracer = parent.output.current_tracer
        places, one = _places()[arguments["number"].as_python_constant()]
        if _has_changed(one, tracer):
            raise_refusal("AG206", SEES_WRITES, AS_A_LIST)
        now = [(_current(container, tracer), place, before) for container, place, before in places]
        arguments["item"] = _renewed(arguments["item"].realize(), now, tracer)
    elif code is structure.note_copies.__code__:
        pairs = [pair.realize().items for pair in arguments["pairs"].realize().items]
        _copies(parent.output.current_tracer).update((one.realize(), copy.realize()) for one, copy in pairs)
    elif code is iteration.end_taking.__code__:
        one = _under_way()[-1]
        one.taking = False
        spent().update(one.taken)
        if any(iterator.source is not None for iterator in one.taken):
            raise_refusal("AG206", KEPT, AS_A_LIST)
        effects = parent.output.side_effects
        if _has_effects(one.mark) or _has_changed(one) or _has_written(one, effects):
            raise_refusal("AG206", _DOES_MORE, AS_A_LIST)
    elif code is iteration.end_trips.__code__:
        one = _under_way().pop()
        if not one.taking and _has_changed(one):  # else Python has known when to stop (runtime/logic.py)
            raise_refusal("AG206", SEES_WRITES, AS_A_LIST)


def _under_way() -> list[_Taking]:
    """The loops of this kind around the point that is being traced."""
    return tracing.notebook().setdefault("taking", [])  # type: ignore[no-any-return]


def _places() -> list[tuple[list[tuple[Any, Any, Any]], _Taking]]:
    """By the number of an element: where it lay, and what it is made of; and the loop that has taken it."""
    return tracing.notebook().setdefault("places", [])  # type: ignore[no-any-return]


def _number(one: _Taking) -> int:
    _places().append((one.places, one))
    one.places = []
    return len(_places()) - 1


def _renewed(item: Any, places: list[tuple[Any, Any, Any]], tracer: Any) -> Any:
    """An element of a loop with what is now at the places that it was made of."""
    parts = [(before.realize(), at(container, place)) for container, place, before in places]
    if all(_is_still(now, before, tracer) for before, now in parts):
        return item
    new = _with(item, parts)
    if not all(_is_still(now, before, tracer) for before, now in parts):  # those that are left: it is made of them else
        raise_refusal("AG206", _WRITES_AHEAD, "run over a copy, `list(...)`, if the elements from before are meant")
    return new


def at(container: Any, place: Any) -> Any:
    """What a list holds at an index, or a dict at a key; None where there is nothing."""
    items = container.items
    found = items.get(place) if isinstance(items, dict) else items[place] if place < len(items) else None
    return None if found is None else found.realize()


def _with(item: Any, parts: list[tuple[Any, Any]]) -> Any:
    """An element, or a tuple of `items`, `enumerate` or `zip`, with other parts, which come in the order of the tuple.

    Those that are found are taken from the list.
    """
    for k, (before, now) in enumerate(parts):
        if item is before and now is not None:
            del parts[k]
            return now
    if type(item) is not TupleVariable:
        return item
    return TupleVariable([_with(one.realize(), parts) for one in item.items])


def _is_still(now: Any, item: Any, tracer: Any) -> bool:
    if now is None:
        return False
    if now.is_python_constant() and item.is_python_constant():
        return type(now) is type(item) and bool(now.as_python_constant() == item.as_python_constant())
    return is_same(now, item, tracer)


def note_taken(iterator: Any, place: Any, counts: bool) -> None:
    """An iterator is about to give an element, which lies at a place of the list or dict that it runs over."""
    for one in _under_way():
        if one.taking:
            _note(one, iterator, place, counts)


def _note(one: _Taking, iterator: Any, place: Any, counts: bool) -> None:
    first, count = iterator not in one.taken, one.taken.get(iterator, 0) + counts
    one.taken[iterator] = count
    if count > _MOST_TAKEN:
        raise_refusal("AG320", _ENDLESS, "write it as a `while` loop, with a counter if need be")
    container = iterator.__dict__.get(MADE_OF)
    if place is not None:
        one.places.append((container, place, at(container, place)))
    if not first:
        return
    _see(iterator, _length, one)
    if container is not None:
        _see(container, _length, one)
    known: set[Any] = set()
    for value in _sources(iterator):
        _look(value, one, known)


def _sources(iterator: Any) -> list[Any]:
    """What an iterator makes its elements of, beside those of others."""
    if isinstance(iterator, (MapVariable, FilterVariable)):
        return [iterator.fn]
    if not isinstance(iterator, LocalGeneratorObjectVariable) or iterator.inline_tracer is None:
        return []
    if iterator.get_filename().startswith(TORCH):  # it looks at the structure of modules, which trips do not change
        return []
    own = iterator.get_code().co_cellvars
    values = iterator.inline_tracer.symbolic_locals.items()
    return [inner for name, value in values for inner in (_parts(value) if name in own else [value])]


def _look(value: Any, one: _Taking, known: set[Any]) -> None:
    """Remember what can be seen from a value, as far as it can change."""
    if isinstance(value, LazyVariableTracker):
        if not value.is_realized():
            return
        value = value.realize()
    if value in known:
        return
    known.add(value)
    _see(value, _state, one)
    for inner in _parts(value):
        _look(inner, one, known)


def _see(value: Any, asks: Callable[[Any], Any], one: _Taking) -> None:
    state = asks(value)
    if state is not None:
        one.seen.append((value, asks, state))


def _length(value: Any) -> Any:
    """Of a list, or that of an iterator: eager comes to what is appended meanwhile (of others it raises)."""
    if isinstance(value, DequeVariable):
        return list(value.items)  # one that is full stays as long as it is
    sized = isinstance(value, (*_CONTAINERS, ListIteratorVariable))
    return len(value.items) if sized else None


def _parts(value: Any) -> list[Any]:
    if isinstance(value, BaseListVariable):
        return list(value.items)
    if isinstance(value, ConstDictVariable):
        return list(value.items.values())
    if isinstance(value, CellVariable):
        content = content_of(value)
        return [] if content is None else [content]
    if isinstance(value, NestedUserFunctionVariable):
        return [value.closure] if value.closure is not None else []
    owner = getattr(value, "obj", None)  # of a bound method
    return [owner] if isinstance(owner, UserDefinedObjectVariable) else []


def _state(value: Any) -> Any:
    """What is in an object, to be compared; None for what cannot change."""
    if isinstance(value, BaseListVariable):
        return list(value.items)
    if isinstance(value, ConstDictVariable):
        return list(value.items.items())
    if isinstance(value, CellVariable):
        return [content_of(value)]
    if isinstance(value, TensorVariable):
        fake = value.as_proxy().node.meta.get("example_value")
        return None if fake is None or fake.is_inference() else fake._version
    if isinstance(value, UserDefinedObjectVariable):
        table = tracing.current_translator().output.side_effects.store_attr_mutations
        return dict(table.get(value, {}))
    return None


def content_of(cell: Any) -> Any:
    """The variable in a cell; None where there is none."""
    table = tracing.current_translator().output.side_effects.store_attr_mutations
    return table.get(cell, {}).get("cell_contents", cell.pre_existing_contents)


def _has_changed(one: _Taking, tracer: Any = None) -> bool:
    """Whether something that can be seen is no longer what it was, or what stands for it in the bodies under way."""
    return any(asks(_current(value, tracer)) != before for value, asks, before in one.seen)


def _current(value: Any, tracer: Any) -> Any:
    """What a list or dict is in the bodies that are being traced: those that they write to may be copies there."""
    for around in reversed(list(tracing.enclosing(tracer))):
        value = _copies(around).get(value, value)
    return value


def _copies(tracer: Any) -> dict[Any, Any]:
    return tracer.__dict__.setdefault("_autograph_copies", {})  # type: ignore[no-any-return]


def _has_written(one: _Taking, effects: Any) -> bool:
    """Whether something that was there before has been written to meanwhile: attributes, lists, dicts or tensors."""
    now, before = effects.store_attr_mutations, one.attributes
    changed = [item for item in now if item in before and {**now[item]} != before[item]]
    if changed or any(item not in before and item.source is not None for item in now):
        return True
    for value in _containers(effects):
        before_it = one.contents.get(value)
        if effects.is_modified(value) if before_it is None else _has_other_content(value, *before_it):
            return True
    return _has_written_to_tensors(one.mark)


def _containers(effects: Any) -> list[Any]:
    """The lists, dicts and sets from outside of the trace."""
    return [value for value in effects.id_to_variable.values() if isinstance(value, _CONTAINERS)]


def _content(container: Any) -> tuple[Open | None, Any]:
    """What is in it, as far as that is known: nothing is looked into; and what is in the place of that."""
    found = held(container)
    return (found, found.state()) if isinstance(found, Open) else (None, _state(container))


def _has_other_content(container: Any, found: Open | None, content: Any) -> bool:
    """Whether it is another than `_content` has given before; it may have been looked into since."""
    same = found is not None and found.is_behind(held(container))
    return content != (found.state() if found is not None and same else _content(container)[1])  # type: ignore[no-any-return]


def _has_written_to_tensors(mark: Any) -> bool:
    """Whether the graph writes, behind a node, to what was there before."""
    nodes = tracing.nodes()
    start = nodes.index(mark) + 1 if mark in nodes else 0
    before = {storage_at(node) for k, node in enumerate(nodes) if k < start or node.op in ("placeholder", "get_attr")}
    return any(storage_at(target) in before for node in nodes[start:] for target in written(node))


def _has_effects(mark: Any) -> bool:
    """Whether the graph does more, behind a node, than to compute: effects, and draws, whose order counts."""
    nodes = tracing.nodes()
    start = nodes.index(mark) + 1 if mark in nodes else 0
    behind = tracing.with_bodies(nodes[start:])
    return any(node.target is torch.ops.autograph_torch.effect or draws_random_numbers(node) for node in behind)


def spent() -> dict[Any, int]:
    """Iterators whose place is known to data alone."""
    return tracing.notebook().setdefault("spent", {})  # type: ignore[no-any-return]
