"""How the tracer lets copies stand in for tensors from around a body (see runtime/outside.py).

A tensor from around a body enters its graph as an input when the body first uses it (private:
SubgraphTracer.lift_tracked_freevar_to_input). This is where a stand-in is put in its place.
tests/capture/test_standing_in.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import dataclasses
from abc import ABCMeta
from collections.abc import Iterator
from typing import Any

from torch._dynamo.current_scope_id import current_scope_id
from torch._dynamo.output_graph import LazyProxy, SubgraphTracer
from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    ConstDictVariable,
    DeletedVariable,
    NumpyNdarrayVariable,
    TensorVariable,
    TupleVariable,
    UserDefinedObjectVariable,
)
from torch._dynamo.variables.base import AttributeMutationNew
from torch._dynamo.variables.functions import BaseUserFunctionVariable
from torch.fx.experimental.symbolic_shapes import has_static_value

from autograph_torch.capture import element_containers, field_writes
from autograph_torch.capture.contents import as_tuple
from autograph_torch.capture.copied_values import note_copied
from autograph_torch.capture.enum_members import is_member
from autograph_torch.capture.finished import check_at_the_end
from autograph_torch.capture.grown import is_grown
from autograph_torch.capture.identity import is_same
from autograph_torch.capture.kept_inputs import drop_uses, keep_input
from autograph_torch.capture.open_contents import is_open
from autograph_torch.capture.shared_results import keep_writes
from autograph_torch.capture.torch_fixes import keep_names_apart
from autograph_torch.capture.two_places import given_for, note_given, note_handed_out
from autograph_torch.runtime import codec, instances, memories, outside, predicate, structure, tracing
from autograph_torch.runtime.refusal import raise_refusal
from autograph_torch.runtime.reordering import order_of


def allow_stand_ins() -> None:
    """Let a body that uses a tensor from around it get what stands in for the tensor, if anything does."""
    lift = SubgraphTracer.lift_tracked_freevar_to_input

    def lift_or_replace(self: Any, proxy: Any) -> Any:
        proxy = tracing.resolved(proxy, self)
        return proxy if proxy.tracer is self else _made(self, proxy, lift(self, proxy))

    SubgraphTracer.lift_tracked_freevar_to_input = lift_or_replace  # type: ignore[method-assign]


def _made(tracer: Any, outer: Any, lifted: Any) -> Any:
    """A size of a tensor of the body, which Dynamo computes when it is asked for (torch 2.13 forgets to)."""
    if isinstance(lifted, LazyProxy):
        lifted = lifted()
        tracer.bound_symbols[outer.node.meta["example_value"].node.expr] = lifted
    return lifted


def fill_in_stand_ins(code: Any, parent: Any, arguments: dict[str, Any]) -> None:
    """Do the work of the empty functions of runtime/outside.py when the tracer is about to enter one of them."""
    tracer = parent.output.current_tracer
    if code is outside.stand_in.__code__:
        tensor, copy = arguments["tensor"].realize(), arguments["copy"].realize()
        original = tracing.resolved(tensor.proxy, tracer.parent).node
        keep_input(original)
        memories.put_stand_in(tracer, original, copy.proxy)
    elif code is outside.clones_of.__code__:
        memories.note_copies(arguments["memories"].realize().as_proxy(), tracer)
    elif code is outside.note_same.__code__:
        initial, before, after = (arguments[role].realize().items for role in ("initial", "before", "after"))
        _note_same(arguments["site"].as_python_constant(), initial, before, after, tracer)
    elif code is outside.keep.__code__:
        objects = [item.realize() for item in arguments["objects"].realize().items]
        known = tracer.__dict__.setdefault("_autograph_kept", [])
        known.extend(item for item in objects if item.is_tensor() and all(item is not other for other in known))
    elif code is outside.kept.__code__:
        found = [item for around in tracing.enclosing(tracer) for item in around.__dict__.get("_autograph_kept", ())]
        arguments["found"] = TupleVariable(found)
    elif code is structure.same_object.__code__:
        same = is_same(arguments["value"].realize(), arguments["other"].realize(), tracer)
        arguments["found"] = ConstantVariable.create(same)
    elif code is predicate.is_array.__code__:
        arguments["found"] = ConstantVariable.create(isinstance(arguments["value"].realize(), NumpyNdarrayVariable))
    elif code is structure.is_dataclass.__code__:
        arguments["found"] = ConstantVariable.create(_is_dataclass(arguments["value"].realize()))
    elif code is structure.made_here.__code__:
        arguments["found"] = ConstantVariable.create(_is_made_here(arguments["value"].realize()))
    elif code is instances.own_attributes.__code__:
        names = _own_attributes(arguments["value"].realize(), parent.output.side_effects)
        arguments["found"] = ConstantVariable.create(None) if names is None else _names(names)
    elif code is instances.extra_attributes.__code__:
        arguments["found"] = _names(_extra_attributes(arguments["table"].realize(), parent.output.side_effects))
    elif code is instances.copied.__code__:
        note_copied(arguments["value"].realize())
    elif code is instances.note_replaced.__code__:
        field_writes.note_replaced(arguments["before"], arguments["after"])
    elif code is instances.note_handed.__code__:
        site, value = arguments["site"].as_python_constant(), arguments["value"].realize()
        around, inside = ([item.realize() for item in arguments[role].realize().items] for role in ("around", "inside"))
        stood_in_for = dict(zip(inside, around, strict=True))
        whole = TupleVariable([value, arguments["held"]])
        note_handed_out(site, whole, parent.output.side_effects, stood_in_for)
    elif code is instances.note_results.__code__:
        site, value = arguments["site"].as_python_constant(), arguments["value"].realize()
        whole = TupleVariable([value, arguments["held"]])
        memories.mark_handed_on()
        element_containers.note_results(given_for(site, whole, parent.output.side_effects))
        copies = note_given(site, whole, arguments["flag"].realize(), parent.output)
        field_writes.note_given_copies(copies)
    elif code is structure.is_from_caller.__code__:
        arguments["found"] = ConstantVariable.create(_is_from_caller(arguments["value"].realize()))
    elif code is structure.number_of.__code__:
        arguments["found"] = ConstantVariable.create(_number_of(arguments["value"].realize(), tracer))
    elif code is structure.order_in_memory.__code__:
        fake = arguments["tensor"].realize().as_proxy().node.meta["example_value"]
        if memories.overlaps_itself(fake, repeated=False):
            message = "a branch or loop gives a tensor whose elements overlap in memory, or carries one"
            raise_refusal("AG314", message, "give a copy of it (`.contiguous()`)")
        order = order_of(fake)
        if order is not None:
            arguments["found"] = TupleVariable([ConstantVariable.create(dim) for dim in order])
    elif code is structure.is_of_a_trip.__code__:
        fake = arguments["tensor"].realize().as_proxy().node.meta["example_value"]
        arguments["found"] = ConstantVariable.create(not has_static_value(fake.storage_offset()))
    elif code is outside.remember.__code__:
        site = arguments["site"].as_python_constant()
        found, places = list(_objects_in(arguments["values"])), tracing.replaced_objects(site)
        replaced = {one for place, one in found if place in places}
        _remembered()[site] = [one for _, one in found if one not in replaced]
    elif code is codec.thing.__code__:
        arguments["found"] = _things()[arguments["number"].as_python_constant()]
    elif code is outside.announce.__code__:
        keep_names_apart(parent.output)
        check_at_the_end(parent.output, keep_writes, drop_uses)
        site = arguments["site"].as_python_constant()
        for role in ("mutated", "reads"):
            for item in arguments[role].realize().items:
                memories.note_use(site, tracing.resolved(item.realize().proxy, tracer), role == "mutated")
    elif code is outside.hand_out.__code__:
        site = arguments["site"].as_python_constant()
        for item in arguments["tensors"].realize().items:
            proxy = tracing.resolved(item.realize().as_proxy(), tracer)
            if proxy.tracer is not tracer:
                memories.note_use(site, proxy, False)
    elif code is outside.outside_tensors.__code__:
        site = arguments["site"].as_python_constant()
        tracing.notebook()[site, "groups"] = memories.groups_of(site)
        arguments["found"] = TupleVariable([_variable(used) for used in memories.needed_at(site)])


def _is_made_here(variable: Any) -> bool:
    if variable.mutation_type is None or variable.mutation_type.scope < current_scope_id():
        return False
    inside = (known for site, known in _remembered().items() if site.endswith(outside.INSIDE))
    return all(variable is not one for known in inside for one in known)  # it is there before the trips


def _names(names: list[str]) -> TupleVariable:
    return TupleVariable([ConstantVariable.create(name) for name in names])


def _own_attributes(item: Any, effects: Any) -> list[str] | None:
    """The attributes of an object of a plain class that was made in the body under trace."""
    mutation = item.mutation_type
    if type(item) is not UserDefinedObjectVariable or not isinstance(mutation, AttributeMutationNew):
        return None
    kind = item.python_type()
    special = any(
        getattr(kind, name, None) is not getattr(object, name, None)
        for name in ("__new__", "__setattr__", "__getattribute__", "__getattr__", "__del__", "__slots__")
    )
    if special or type(kind) not in (type, ABCMeta) or mutation.scope < current_scope_id():
        return None
    written = effects.store_attr_mutations.get(item, {})
    return [name for name, value in written.items() if not isinstance(value, DeletedVariable)]


def _extra_attributes(item: Any, effects: Any) -> list[str]:
    """The attributes of an OrderedDict: where it is from outside, and what has been set."""
    names = dict.fromkeys(getattr(getattr(item, "value", None), "__dict__", {}))
    for name, value in effects.store_attr_mutations.get(item, {}).items():
        names[name] = None
        if isinstance(value, DeletedVariable):
            del names[name]
    return list(names)


def _note_same(site: str, initial: list[Any], before: list[Any], after: list[Any], tracer: Any) -> None:
    """Which tensors are the same at the end of a trip; when the set changes, what is known of the others is void."""
    known = tracing.same_tensors(site)
    for k, parts in enumerate(zip(initial, before, after, strict=True)):
        first, old, new = (part.realize() for part in parts)
        was = known.get(k)
        if isinstance(old, TensorVariable):
            same = is_same(old, new, tracer) or is_same(first, new, tracer)
        else:
            same = bool(was) and _is_same_flag(old, new)
        if (same and was is None) or (was and not same):
            known[k] = same
            tracing.written_leaves(site).clear()


def _is_same_flag(old: Any, new: Any) -> bool:
    both = all(one.is_python_constant() for one in (old, new))
    return both and old.as_python_constant() is new.as_python_constant()


def _things() -> list[Any]:
    """Objects that bodies of this trace give back, and that were there before them."""
    return tracing.notebook().setdefault("things", [])  # type: ignore[no-any-return]


def _remembered() -> dict[str, list[Any]]:
    """By site: the objects that a loop begins with."""
    return tracing.notebook().setdefault("remembered", {})  # type: ignore[no-any-return]


def _objects_in(variable: Any, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The objects in a value, with their places (those of capture/replacing.py)."""
    variable = as_tuple(variable.realize())
    if isinstance(variable, (BaseListVariable, ConstDictVariable)) and not is_open(variable):
        inner = variable.items.values() if isinstance(variable, ConstDictVariable) else variable.items
        for k, item in enumerate(inner):
            yield from _objects_in(item, (*place, k))
    elif isinstance(variable, (UserDefinedObjectVariable, BaseUserFunctionVariable)):
        yield place, variable


def _is_dataclass(variable: Any) -> bool | None:
    try:
        return dataclasses.is_dataclass(variable.python_type())
    except NotImplementedError:  # not known to torch
        return None


def _number_of(variable: Any, tracer: Any) -> int:
    if isinstance(variable, TensorVariable):
        return number_of_tensor(variable, tracer)
    return number_of_object(variable)


def number_of_object(variable: Any) -> int:
    """A number for anything else that was there before the body; -1 for what the body has made."""
    mutation = variable.mutation_type
    before = variable.source is not None or (mutation is not None and mutation.scope < current_scope_id())
    before = before or is_grown(variable) or is_member(variable)
    if not before and all(variable is not one for known in _remembered().values() for one in known):
        return -1
    for number, known in enumerate(_things()):
        if known is variable or (_has_value(known) and _has_value(variable) and known.value is variable.value):
            return number
    _things().append(variable)
    return len(_things()) - 1


def _has_value(variable: Any) -> bool:
    """Whether Dynamo has the object itself; of a list it makes one when it is asked."""
    return not isinstance(variable, BaseListVariable) and hasattr(variable, "value")


def _is_from_caller(variable: Any) -> bool:
    """Also of any object whose contents are unknown here: torch 2.11 keeps those of a Counter elsewhere."""
    is_known = hasattr(variable, "_base_vt") or isinstance(variable, ConstDictVariable)  # a defaultdict with torch 2.11
    return variable.source is not None or not is_known


def number_of_tensor(variable: TensorVariable, tracer: Any) -> int:
    """A number for a tensor from around the body that has no stand-in in it."""
    if tracer.parent is None or tracing.resolved(variable.proxy, tracer).tracer is tracer:
        return -1
    for number, known in enumerate(_things()):
        if isinstance(known, TensorVariable) and is_same(known, variable, tracer):
            return number
    _things().append(variable)
    return len(_things()) - 1


def _variable(used: memories.Used) -> TensorVariable:
    return TensorVariable(used.proxy, **TensorVariable.specialize(used.fake))
