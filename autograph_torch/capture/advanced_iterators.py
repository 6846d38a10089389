"""Iterators keep their place: what takes from one where data decide whether eager would is refused.

    for v in values:            a loop that data may leave early: the trace takes all elements before the first trip,
        total += v              so `values` is used up behind the loop, and what a generator does between two elements
        if total > 4: break     is done beforehand

    if p: next(values)          in a body, which may be traced twice, or not be the one that is run

So behind such a loop its iterator may not be used; a generator that it runs over may neither print nor write to what
was there before, and may not see what the trips write to. Nor may it go on forever.

Private: how Dynamo's iterators advance, the frame of a generator (`inline_tracer`), SideEffects.store_attr_mutations.
tests/capture/test_advanced_iterators.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo.variables import ConstDictVariable, TensorVariable, UserDefinedObjectVariable
from torch._dynamo.variables import iter as iterators
from torch._dynamo.variables.functions import LocalGeneratorObjectVariable, NestedUserFunctionVariable
from torch._dynamo.variables.lazy import LazyVariableTracker
from torch._dynamo.variables.lists import BaseListVariable, ListIteratorVariable, RangeIteratorVariable
from torch._dynamo.variables.misc import CellVariable

from autograph_torch.capture.patching import patched
from autograph_torch.runtime import iteration, tracing
from autograph_torch.runtime.refusal import raise_refusal

_BASE = iterators.IteratorVariable
_TORCH = os.path.dirname(torch.__file__) + os.sep
# The names differ with the version of torch; a list's iterator gives all that is left at once, too.
_ADVANCES = ("gen_send_ex2", "tp_iternext_impl", "next_variable", "unpack_var_sequence", "force_unpack_var_sequence")
_MOST_TAKEN = 1024  # elements that a trace follows one by one
_IN_BODY = "a branch or loop advances an iterator from around it"
_SPENT = "an iterator is used that a loop has run over which data may leave early"
_ENDLESS = f"a loop that data may leave early runs over an iterator of more than {_MOST_TAKEN} elements"
_DOES_MORE = "a loop that data may leave early runs over a generator that prints, or writes to what was there before"
_SEES_WRITES = "a loop that data may leave early writes to what the generator sees that it runs over"
_AS_A_LIST = "make a list of it before the loop"


@dataclass
class _Taking:
    """One loop that takes all elements before its first trip.

    seen: what its generators can see, how it is asked what is in it, and what was in it before.
    taken: how many elements each iterator has given.
    """

    mark: Any
    attributes: dict[Any, dict[str, Any]]
    seen: list[tuple[Any, Callable[[Any], Any], Any]] = field(default_factory=list)
    taken: dict[Any, int] = field(default_factory=dict)
    taking: bool = True


@contextlib.contextmanager
def advanced_iterators() -> Iterator[None]:
    """While converted functions are traced."""
    found = [one for one in vars(iterators).values() if isinstance(one, type) and issubclass(one, _BASE)]
    kinds: list[Any] = [LocalGeneratorObjectVariable, ListIteratorVariable, RangeIteratorVariable, *found]
    roots: list[Any] = [LocalGeneratorObjectVariable, _BASE]
    with contextlib.ExitStack() as stack:
        for root in roots:
            stack.enter_context(patched(root, __init__=_beginning(root.__init__)))
        for kind in kinds:
            own = {name: _advancing(vars(kind)[name]) for name in _ADVANCES if name in vars(kind)}
            stack.enter_context(patched(kind, **own))
        yield


def _beginning(make: Callable[..., None]) -> Callable[..., None]:
    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        self._autograph_tracer = tracing.current_tracer()

    return begin


def _advancing(advance: Callable[..., Any]) -> Callable[..., Any]:
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        tracer = tracing.current_tracer()
        made_in = getattr(self, "_autograph_tracer", tracer)
        if made_in is not tracer and made_in in tracing.enclosing(tracer):
            raise_refusal("AG206", _IN_BODY, "make the iterator in the branch or loop, or take from it before")
        if self in _spent():
            raise_refusal("AG206", _SPENT, _AS_A_LIST)
        for one in _under_way():
            if one.taking:
                _note_taken(one, self)
        return advance(self, *args, **kwargs)

    return checked


def fill_in_taking(code: Any, parent: Any, arguments: dict[str, Any]) -> None:
    """Do the work of iteration.begin_taking, end_taking and end_trips when the tracer is about to enter one of them."""
    if code is iteration.begin_taking.__code__:
        table = parent.output.side_effects.store_attr_mutations
        one = _Taking(tracing.last_node(), {item: dict(names) for item, names in table.items()})
        _see(arguments["iterable"].realize(), _length, one)
        _under_way().append(one)
    elif code is iteration.end_taking.__code__:
        one = _under_way()[-1]
        one.taking = False
        _spent().update(one.taken)
        if _has_effects(parent.output, one.mark) or _has_changed(one) or _has_written(one, parent.output.side_effects):
            raise_refusal("AG206", _DOES_MORE, _AS_A_LIST)
    elif code is iteration.end_trips.__code__:
        if _has_changed(_under_way().pop()):
            raise_refusal("AG206", _SEES_WRITES, _AS_A_LIST)


def _under_way() -> list[_Taking]:
    """The loops of this kind around the point that is being traced."""
    return tracing.notebook().setdefault("taking", [])  # type: ignore[no-any-return]


def _spent() -> dict[Any, int]:
    """Iterators whose place is known to data alone."""
    return tracing.notebook().setdefault("spent", {})  # type: ignore[no-any-return]


def _note_taken(one: _Taking, iterator: Any) -> None:
    count = one.taken[iterator] = one.taken.get(iterator, 0) + 1
    if count > _MOST_TAKEN:
        raise_refusal("AG320", _ENDLESS, "write it as a `while` loop, with a counter if need be")
    if count > 1:
        return
    _see(iterator, _length, one)
    known: set[Any] = set()
    for value in _sources(iterator):
        _look(value, one, known)


def _sources(iterator: Any) -> list[Any]:
    """What an iterator makes its elements of, beside those of others."""
    if isinstance(iterator, (iterators.MapVariable, iterators.FilterVariable)):
        return [iterator.fn]
    if not isinstance(iterator, LocalGeneratorObjectVariable) or iterator.inline_tracer is None:
        return []
    if iterator.get_filename().startswith(_TORCH):  # it looks at the structure of modules, which trips do not change
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


def _length(value: Any) -> int | None:
    """Of a list, or of one that an iterator runs over: eager comes to what is appended meanwhile."""
    return len(value.items) if isinstance(value, (BaseListVariable, ListIteratorVariable)) else None


def _parts(value: Any) -> list[Any]:
    if isinstance(value, BaseListVariable):
        return list(value.items)
    if isinstance(value, ConstDictVariable):
        return list(value.items.values())
    if isinstance(value, CellVariable):
        content = _content(value)
        return [] if content is None else [content]
    if isinstance(value, NestedUserFunctionVariable):
        return [value.closure] if value.closure is not None else []
    owner = getattr(value, "obj", None)  # of a bound method
    return [owner] if isinstance(owner, UserDefinedObjectVariable) else []


def _state(value: Any) -> Any:
    """What is in an object, to be compared; None for what cannot change."""
    if isinstance(value, BaseListVariable):
        return [id(one) for one in value.items]
    if isinstance(value, ConstDictVariable):
        return [(id(key), id(one)) for key, one in value.items.items()]
    if isinstance(value, CellVariable):
        return id(_content(value))
    if isinstance(value, TensorVariable):
        fake = value.as_proxy().node.meta.get("example_value")
        return None if fake is None or fake.is_inference() else fake._version
    if isinstance(value, UserDefinedObjectVariable):
        table = tracing.current_translator().output.side_effects.store_attr_mutations
        return {name: id(one) for name, one in table.get(value, {}).items()}
    return None


def _content(cell: Any) -> Any:
    table = tracing.current_translator().output.side_effects.store_attr_mutations
    return table.get(cell, {}).get("cell_contents", cell.pre_existing_contents)


def _has_changed(one: _Taking) -> bool:
    return any(asks(value) != before for value, asks, before in one.seen)


def _has_written(one: _Taking, effects: Any) -> bool:
    """Whether attributes have been written to meanwhile, of objects that were there before."""
    now, before = effects.store_attr_mutations, one.attributes
    changed = [item for item in now if item in before and {**now[item]} != before[item]]
    return bool(changed) or any(item not in before and item.source is not None for item in now)


def _has_effects(output: Any, mark: Any) -> bool:
    nodes = tracing.nodes()
    start = nodes.index(mark) + 1 if mark in nodes else 0
    return any(_is_effect(output, node) for node in nodes[start:])


def _is_effect(output: Any, node: Any) -> bool:
    if node.target is torch.ops.autograph_torch.effect:
        return True
    bodies = [output.nn_modules[str(node.target)]] if node.op == "get_attr" else []
    graphs = [one.graph for one in bodies if isinstance(one, torch.fx.GraphModule)]
    return any(_is_effect(output, inner) for graph in graphs for inner in graph.nodes)
