"""How the tracer lets a body write to attributes and closure cells from around it (see runtime/fields.py).

Dynamo keeps such writes in a table (private: SideEffects.store_attr_mutations), which it puts back behind a body; it
refuses to write to what the body has not made itself. In our bodies it does not refuse, and we note what was written.
Lists and dicts are not in the table: see container_writes.py.
tests/capture/test_standing_in.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import inspect
from typing import Any

from torch._dynamo.current_scope_id import current_scope_id
from torch._dynamo.exc import ObservedAttributeError, handle_observed_exception
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import (
    CellVariable,
    ConstantVariable,
    ConstDictVariable,
    DeletedVariable,
    ListVariable,
    NewGlobalVariable,
    SetVariable,
    TensorVariable,
    UserDefinedClassVariable,
    UserDefinedObjectVariable,
)
from torch._dynamo.variables.base import AttributeMutation
from torch._dynamo.variables.functions import BaseUserFunctionVariable
from torch._guards import TracingContext

from autograph_torch.capture import two_places
from autograph_torch.capture.attribute_uses import used_as_a_whole, used_by_others
from autograph_torch.capture.container_writes import may_be_written, note_write_to_deque
from autograph_torch.capture.copied_values import check_written, note_originals
from autograph_torch.capture.deletions import is_deleted
from autograph_torch.capture.dynamo_names import get_attribute
from autograph_torch.capture.global_writes import read_global
from autograph_torch.capture.graph_writes import storage_at, written
from autograph_torch.capture.growing import check_frozen
from autograph_torch.capture.identity import is_same
from autograph_torch.capture.instance_dicts import note_order, set_attribute
from autograph_torch.capture.picked_attributes import is_missing, may_be_missing
from autograph_torch.capture.presence import guard_own, runs_code
from autograph_torch.capture.replacing import note_carried_write, objects_in
from autograph_torch.runtime import carried, fields, tracing
from autograph_torch.runtime.refusal import raise_refusal, refusal_at
from autograph_torch.runtime.structure import OF_SETS, WITHOUT_SETS

_CONTAINERS = (ListVariable, ConstDictVariable)
_NONE = object()
_ACCESSES = ("__getattribute__", "__setattr__")


def allow_field_writes() -> None:
    """In bodies of our operators, do not refuse writes to attributes, cells, lists and dicts."""
    check = SideEffects.check_allowed_side_effect
    snapshot = getattr(SideEffects, "snapshot_attr_mutation", None)

    def check_allowed(self: Any, item: Any) -> bool:
        if _in_body(self) and isinstance(item.mutation_type, AttributeMutation):
            return True
        output = self.output_graph_weakref()
        return (output is not None and may_be_written(item, output.current_tracer)) or check(self, item)

    SideEffects.check_allowed_side_effect = check_allowed  # type: ignore[method-assign]
    if snapshot is not None:

        def snapshot_mutation(self: Any, item: Any, name: str, value: Any) -> bool:
            return False if _in_body(self) else snapshot(self, item, name, value)

        SideEffects.snapshot_attr_mutation = snapshot_mutation  # type: ignore[method-assign]


def note_twins(one: Any, other: Any) -> None:
    """Two objects that may be one in eager: what is written to one of them would show in the other."""
    if one is other:
        return
    if not isinstance(one, _CONTAINERS):
        _twins()[one], _twins()[other] = other, one
        return
    made = one not in _related() and not _is_from_around(one)
    _related().update((one, other))
    place = tracing.user_line()[:2]
    in_body = tracing.current_tracer().parent is not None
    apart = place in tracing.known().splits and in_body and made
    if not apart:  # else the first trip has made it, under an `if` of its own
        _lines()[one] = _lines()[other] = place


def line_of_twin(item: Any) -> tuple[str, int] | None:
    """Where a branch or loop stands that may have left an object as it was, or given another one."""
    if item in _twins():
        return tracing.user_line()[:2]
    return _lines().get(item) or two_places.line_of(item)


def note_replaced(before: Any, after: Any, places: Any = None) -> None:
    """The objects in one value (in these places) may be those at the same places of another."""
    others = dict(objects_in(after))
    for place, item in objects_in(before):
        if place in others and (places is None or place in places):
            note_twins(item, others[place])
            two_places.note_replaced(item, others[place])


def fill_in_kept(code: Any, parent: Any, arguments: dict[str, Any]) -> None:
    """Do the work of carried.note_handed_on and carried.note_kept when the tracer is about to enter one of them."""
    if code is carried.note_handed_on.__code__:
        begun = parent.output.current_tracer.__dict__.get("_autograph_carried", {})
        known = _handed_on(arguments["site"].as_python_constant())
        known.update(place for place, one in objects_in(arguments["after"]) if one in begun or one in _related())
    elif code is carried.note_kept.__code__:
        sure = arguments["sure"].as_python_constant()
        places = _handed_on(arguments["site"].as_python_constant()) if sure else None
        note_replaced(arguments["before"], arguments["after"], places)


def _related() -> set[Any]:
    """Lists and dicts that may be one with another."""
    return _of_the_trace("related", set())  # type: ignore[no-any-return]


def _handed_on(site: str) -> set[Any]:
    return tracing.notebook().setdefault((site, "handed on"), set())  # type: ignore[no-any-return]


def note_given_copies(copies: list[tuple[Any, list[Any]]]) -> None:
    """Behind an operator: what was there before it, with what may be a copy of it; none is one inside."""
    for item, found in copies:
        if isinstance(item, _CONTAINERS):
            for other in found:
                note_twins(item, other)
            if not found:
                _lines()[item] = tracing.user_line()[:2]
        else:
            note_originals(item, found)


def _is_from_around(item: Any) -> bool:
    """Whether a list or dict was there before the body that is being traced, or stands for one that was."""
    before = item.mutation_type is not None and item.mutation_type.scope < current_scope_id()
    return before or any(
        copy is item
        for around in tracing.enclosing(tracing.current_tracer())
        for *_, copy in tracing.shared_contents(around)
    )


def watch_twins() -> None:
    """Refuse to use an object when its twin has been written to; lists and dicts, whose uses do not show, when one is.

    That is told at the line of the branch or loop: the next trace may tell the two apart (capture/attempts.py).
    """
    store, load, mutation = SideEffects.store_attr, SideEffects.load_attr, SideEffects.mutation

    def mutate(self: Any, var: Any) -> None:
        if isinstance(var, _CONTAINERS) and var in _lines():
            message = "what this gives may be a list or dict from before, and one of the two is written to afterwards"
            raise refusal_at(*_lines()[var], "AG314", message, "copy the list or dict before")
        if isinstance(var, SetVariable) and var.source is not None and _in_body(self):
            raise_refusal("AG310", OF_SETS, WITHOUT_SETS)  # which the body has met first: it would be forgotten
        _check_places(var)
        check_frozen(var)
        _note_carried(self, var)
        note_write_to_deque(var)
        mutation(self, var)

    def store_attr(self: Any, item: Any, name: str, value: Any, *args: Any, **kwargs: Any) -> None:
        if _in_body(self) and _is_there_already(self, item, name, value.realize()):
            return
        _check_places(item)
        check_frozen(item)
        check_written(item)
        if _in_body(self) and isinstance(item, TensorVariable):
            _refuse_written(item)
        store(self, item, name, value, *args, **kwargs)
        twin = _twins().get(item) if isinstance(item, UserDefinedObjectVariable) else None
        if twin is not None:
            tracing.unusable().add(twin)
            two_places.note_attribute_written(item)
        _note_carried(self, item)

    def load_attr(self: Any, item: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(item, UserDefinedObjectVariable) and item in tracing.unusable():
            raise_refusal(
                "AG206",
                "an object is used here that a loop may have left as it was, and that has been written to since",
                "make a copy of the object before the loop",
            )
        return load(self, item, *args, **kwargs)

    SideEffects.mutation = mutate  # type: ignore[method-assign]
    SideEffects.store_attr = store_attr  # type: ignore[method-assign]
    SideEffects.load_attr = load_attr  # type: ignore[method-assign]


def _refuse_written(tensor: Any) -> None:
    """Stop at an attribute that a body sets on a tensor that it writes to: there it is a copy that stands for it."""
    tracer = tracing.current_tracer()
    memory = storage_at(tracing.resolved(tensor.as_proxy(), tracer).node)
    if memory is not None and any(
        storage_at(target) == memory for node in tracer.graph.nodes for target in written(node)
    ):
        message = "a branch or loop writes to a tensor in place, and sets an attribute of it"
        raise_refusal("AG206", message, "set the attribute behind the branch or loop, or by `torch.where` for all data")


def _check_places(item: Any) -> None:
    line = two_places.line_of(item)
    if line is not None:
        message = "what this gives in two places is one object, and one of the two is written to afterwards"
        raise refusal_at(*line, "AG314", message, "copy it for the second place")


def _is_there_already(effects: Any, item: Any, name: str, value: Any) -> bool:
    """Whether an attribute is given the tensor that it has: `self.mask = self.mask.to(x.device)`."""
    if not value.is_tensor() or not isinstance(item, UserDefinedObjectVariable):
        return False
    if not effects.has_pending_mutation_of_attr(item, name) and name not in getattr(item.value, "__dict__", {}):
        return False
    known = get_attribute(item, tracing.current_translator(), name).realize()
    return known.is_tensor() and is_same(value, known, tracing.current_tracer())


def _twins() -> dict[Any, Any]:
    return _of_the_trace("twins", {})


def _lines() -> dict[Any, tuple[str, int]]:
    """Lists and dicts among the twins -> where the loop is."""
    return _of_the_trace("lines of twins", {})


def _note_carried(effects: Any, item: Any) -> None:
    output = effects.output_graph_weakref()
    if output is not None:
        note_carried_write(output.current_tracer, item)


def _of_the_trace(key: str, empty: Any) -> Any:
    return tracing.notebook().setdefault(key, empty) if TracingContext.try_get() is not None else empty


def _in_body(effects: Any) -> bool:
    output = effects.output_graph_weakref()
    return output is not None and "_autograph_table" in output.current_tracer.__dict__


def fill_in_field(code: Any, parent: Any, arguments: dict[str, Any]) -> None:
    """Do the work of the empty functions of runtime/fields.py when the tracer is about to enter one of them."""
    if code is fields.read_field.__code__:
        item, name = _field(parent, arguments)
        site, index = (arguments[role].as_python_constant() for role in ("site", "index"))
        has_dict = isinstance(item, (UserDefinedObjectVariable, BaseUserFunctionVariable))
        if has_dict and tracing.is_in_body_of(site):
            before = tracing.fields_of(site)[:index]
            note_order(item, [*(one.name for one in before if one.item is item), name], parent.output.side_effects)
        found = _read(parent, item, name)
        if found is not None:
            arguments["found"] = found
    elif code is fields.write_field.__code__:
        item, name = _field(parent, arguments)
        _write(parent, item, name, arguments["value"].realize())
    elif code is fields.is_answered.__code__:
        answered = _is_answered(parent, arguments["target"].realize(), arguments["name"].as_python_constant())
        arguments["found"] = ConstantVariable.create(answered)
    elif code is fields.is_computed.__code__:
        written = arguments["written"].as_python_constant()
        computed = _is_computed(parent, arguments["target"].realize(), arguments["name"].as_python_constant(), written)
        arguments["found"] = ConstantVariable.create(computed)
    elif code is fields.is_own.__code__:
        own = _is_own(parent.output.side_effects, arguments["target"].realize(), arguments["name"].as_python_constant())
        arguments["found"] = ConstantVariable.create(own)


def _field(parent: Any, arguments: dict[str, Any]) -> tuple[Any, str]:
    """The variable of an object or cell, and the attribute. What Dynamo first met inside a body, it forgets behind."""
    field = tracing.fields_of(arguments["site"].as_python_constant())[arguments["index"].as_python_constant()]
    if field.place is None:
        return field.item, field.name
    return parent.output.side_effects.id_to_variable.setdefault(field.place, field.item), field.name


def _read(parent: Any, item: Any, name: str) -> Any:
    effects = parent.output.side_effects
    if isinstance(item, CellVariable):
        return effects.load_cell(item)
    if isinstance(item, NewGlobalVariable):
        return read_global(parent, item, name)
    if not _is_own(effects, item, name) or _is_answered(parent, item, name):
        return None
    try:
        return get_attribute(item, parent, name)
    except ObservedAttributeError:
        handle_observed_exception(parent)
        return None


def _is_answered(parent: Any, item: Any, name: str) -> bool:
    """Whether a `__getattr__` of the program's would give an attribute; it is asked only where the text asks."""
    if not isinstance(item, UserDefinedObjectVariable):
        return False
    effects = parent.output.side_effects
    return not effects.has_pending_mutation_of_attr(item, name) and fields.would_answer(item.value, name)


def _is_computed(parent: Any, item: Any, name: str, written: bool) -> bool:
    if not isinstance(item, UserDefinedObjectVariable):
        return False
    if runs_code(item.python_type(), name, _ACCESSES) or _is_answered(parent, item, name):
        return True
    return used_by_others(parent, item, name) if written else used_as_a_whole(parent, item)


def _is_own(effects: Any, item: Any, name: str) -> bool:
    """Whether an attribute is not that of the class alone, or of its bases, which an assignment would hide."""
    if not isinstance(item, (UserDefinedObjectVariable, UserDefinedClassVariable)):
        return True
    if effects.has_pending_mutation_of_attr(item, name):
        return not is_deleted(effects, item, name)
    if guard_own(item, name):
        return True
    if isinstance(item, UserDefinedClassVariable):
        return not any(name in vars(base) for base in item.value.__mro__)
    of_class = inspect.getattr_static(type(item.value), name, _NONE)
    return of_class is _NONE or hasattr(type(of_class), "__set__")


def _write(parent: Any, item: Any, name: str, value: Any) -> None:
    effects = parent.output.side_effects
    if isinstance(item, (CellVariable, NewGlobalVariable)) and may_be_missing(value):
        message = "a `global` or `nonlocal` name may be unbound behind a branch or loop"
        raise_refusal("AG312", message, "bind it before, on every path")
    if isinstance(item, CellVariable):
        effects.store_cell(item, value)
    elif not is_missing(value):
        set_attribute(effects, item, name, value)
    elif _read(parent, item, name) is not None:
        set_attribute(effects, item, name, DeletedVariable())
