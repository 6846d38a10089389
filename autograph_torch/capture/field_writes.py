"""How the tracer lets a body write to attributes and closure cells from around it (see runtime/fields.py).

Dynamo keeps such writes in a table (private: SideEffects.store_attr_mutations), which it puts back behind a body; it
refuses to write to what the body has not made itself. In our bodies it does not refuse, and we note what was written.
Lists and dicts are not in the table: writes to them are still refused here, and handled by the passes.
tests/capture/test_standing_in.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

from typing import Any

from torch._dynamo.exc import ObservedAttributeError, handle_observed_exception
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import CellVariable, UserDefinedObjectVariable
from torch._dynamo.variables.base import AttributeMutation
from torch._guards import TracingContext

from autograph_torch.runtime import fields, tracing
from autograph_torch.runtime.refusal import raise_refusal


def allow_field_writes() -> None:
    """In bodies of our operators, do not refuse writes to attributes and cells."""
    check = SideEffects.check_allowed_side_effect
    snapshot = getattr(SideEffects, "snapshot_attr_mutation", None)

    def check_allowed(self: Any, item: Any) -> bool:
        if _in_body(self) and isinstance(item.mutation_type, AttributeMutation):
            return True
        return check(self, item)

    SideEffects.check_allowed_side_effect = check_allowed  # type: ignore[method-assign]
    if snapshot is not None:

        def snapshot_mutation(self: Any, item: Any, name: str, value: Any) -> bool:
            return False if _in_body(self) else snapshot(self, item, name, value)

        SideEffects.snapshot_attr_mutation = snapshot_mutation  # type: ignore[method-assign]


def note_twins(one: Any, other: Any) -> None:
    """Two objects that may be one in eager: what is written to one of them would show in the other."""
    if one is not other:
        _twins()[one], _twins()[other] = other, one


def watch_twins() -> None:
    """Refuse to use an object when its twin has been written to."""
    store, load = SideEffects.store_attr, SideEffects.load_attr

    def store_attr(self: Any, item: Any, name: str, *args: Any, **kwargs: Any) -> None:
        store(self, item, name, *args, **kwargs)
        twin = _twins().get(item) if isinstance(item, UserDefinedObjectVariable) else None
        if twin is not None:
            _written().add(twin)

    def load_attr(self: Any, item: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(item, UserDefinedObjectVariable) and item in _written():
            raise_refusal(
                "AG206",
                "an object is used here that a loop may have left as it was, and that has been written to since",
                "make a copy of the object before the loop",
            )
        return load(self, item, *args, **kwargs)

    SideEffects.store_attr = store_attr  # type: ignore[method-assign]
    SideEffects.load_attr = load_attr  # type: ignore[method-assign]


def _twins() -> dict[Any, Any]:
    return _of_the_trace("twins", {})


def _written() -> set[Any]:
    return _of_the_trace("written twins", set())


def _of_the_trace(key: str, empty: Any) -> Any:
    return tracing.notebook().setdefault(key, empty) if TracingContext.try_get() is not None else empty


def _in_body(effects: Any) -> bool:
    output = effects.output_graph_weakref()
    return output is not None and "_autograph_table" in output.current_tracer.__dict__


def fill_in_field(code: Any, parent: Any, arguments: dict[str, Any]) -> None:
    """Do the work of the empty functions of runtime/fields.py when the tracer is about to enter one of them."""
    if code is fields.read_field.__code__:
        item, name = _field(parent, arguments)
        found = _read(parent, item, name)
        if found is not None:
            arguments["found"] = found
    elif code is fields.write_field.__code__:
        item, name = _field(parent, arguments)
        _write(parent.output.side_effects, item, name, arguments["value"])


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
    try:
        return item.var_getattr(parent, name)
    except ObservedAttributeError:
        handle_observed_exception(parent)
        return None


def _write(effects: Any, item: Any, name: str, value: Any) -> None:
    if isinstance(item, CellVariable):
        effects.store_cell(item, value)
    else:
        effects.store_attr(item, name, value)
