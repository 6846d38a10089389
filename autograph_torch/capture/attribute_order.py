"""Attributes that the function sets come in Python's order in the dict of their object.

    del state.a                      torch.compile sets `a` where it was before; here it is the last one
    state.a = x

    if p: state.best = x             what data set is set behind the graph (capture/picked_attributes.py), behind all
    state.last = x                   others; here `best` comes before `last`

The first in plain torch.compile, too. A branch or loop that deletes and sets an attribute of an object from around it
leaves an order that data tell: that is refused where the object is given back (capture/instance_dicts.py).

Private: SideEffects.store_attr, store_attr_mutations, clone and codegen_update_mutated.
tests/capture/test_attribute_order.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.bytecode_transformation import create_call_function, create_instruction
from torch._dynamo.current_scope_id import current_scope_id
from torch._dynamo.guards import install_guard
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import AttrSource, TypeDictSource
from torch._dynamo.variables import (
    ConstantVariable,
    DeletedVariable,
    PythonModuleVariable,
    UserDefinedClassVariable,
    UserDefinedObjectVariable,
)
from torch._dynamo.variables.base import AttributeMutationNew

from autograph_torch.capture.patching import patched
from autograph_torch.capture.picked_attributes import is_picked
from autograph_torch.capture.presence import in_dict
from autograph_torch.runtime import fields, tracing

_KINDS = (UserDefinedObjectVariable, UserDefinedClassVariable, PythonModuleVariable)
_MARKS = "_autograph_set_again"  # of the table of writes: object -> names


@contextlib.contextmanager
def attribute_order() -> Iterator[None]:
    """While this is in force, it is."""
    store, clone, write_back = SideEffects.store_attr, SideEffects.clone, SideEffects.codegen_update_mutated

    def store_attr(self: Any, item: Any, name: str, value: Any, *args: Any, **kwargs: Any) -> None:
        deleted = isinstance(self.store_attr_mutations.get(item, {}).get(name), DeletedVariable)
        store(self, item, name, value, *args, **kwargs)
        if not deleted or isinstance(value, DeletedVariable):
            return
        names = self.store_attr_mutations[item]
        names[name] = names.pop(name)
        vars(self).setdefault(_MARKS, {}).setdefault(item, set()).add(name)
        if tracing.in_a_body() and item.mutation_type.scope < current_scope_id():  # from around the body
            unordered().setdefault(item, tracing.user_line()[:2])

    def clone_marks(self: Any) -> Any:
        copy = clone(self)
        vars(copy)[_MARKS] = {item: set(names) for item, names in vars(self).get(_MARKS, {}).items()}
        return copy

    def codegen_update_mutated(self: Any, codegen: Any, *args: Any, **kwargs: Any) -> None:
        write_back(self, codegen, *args, **kwargs)
        for item in self._get_modified_vars():
            names = _last_names(self, item)
            if not names:
                continue
            codegen.add_push_null(lambda: codegen.load_import_from(fields.__name__, fields.put_last.__name__))
            codegen(item.source)
            codegen(ConstantVariable.create(names))
            codegen.extend_output([*create_call_function(2, False), create_instruction("POP_TOP")])

    changed: Any = {"store_attr": store_attr, "clone": clone_marks, "codegen_update_mutated": codegen_update_mutated}
    with patched(SideEffects, **changed):
        yield


def set_again(effects: Any, item: Any) -> set[str]:
    """The attributes that have been deleted and set again."""
    return vars(effects).get(_MARKS, {}).get(item, set())  # type: ignore[no-any-return]


def unordered() -> dict[Any, tuple[str, int]]:
    """Objects whose attributes are in an order that only data tell -> where."""
    return tracing.notebook().setdefault("unordered", {})  # type: ignore[no-any-return]


def _last_names(effects: Any, item: Any) -> tuple[str, ...]:
    """The attributes that come behind those that have stayed, in their order, where Dynamo would not keep it.

    Later calls agree on which of them an object from before the trace has.
    """
    written = effects.store_attr_mutations.get(item, {})
    again, is_made = set_again(effects, item), isinstance(item.mutation_type, AttributeMutationNew)
    picked = any(map(is_picked, list(written.values())[:-1]))  # which is set behind all others
    before = getattr(item.value, "__dict__", None) if isinstance(item, _KINDS) else None
    if not item.source or before is None or not (picked or (again and not is_made)):
        return ()
    if is_made:
        return tuple(written)
    is_class = isinstance(item, UserDefinedClassVariable)
    dict_of: Any = TypeDictSource(item.source) if is_class else AttrSource(item.source, "__dict__")
    for name in written:
        install_guard(dict_of.make_guard(in_dict(name, name in before)))
    return tuple(name for name in written if name in again or name not in before)
