"""Attributes that are there or not, as data decide, are set or removed behind the graph (see runtime/fields.py).

    if p: self.last = x          set on one path only: the graph gives (p, x), and Python sets it, or removes it

Dynamo writes attributes behind the graph from a table (private: SideEffects.store_attr_mutations), by bytecode that
SideEffects.codegen_update_mutated makes: it would store what stands for the absence of one.
tests/capture/test_standing_in.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import functools
from typing import Any

from torch._dynamo.bytecode_transformation import create_call_function, create_instruction
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import ConstantVariable

from autograph_torch.capture.choices import ChosenVariable
from autograph_torch.runtime import fields


def is_missing(value: Any) -> bool:
    """Whether it stands for the absence of an attribute."""
    return value.is_python_constant() and bool(value.as_python_constant() == fields.MISSING)


def may_be_missing(value: Any) -> bool:
    """Whether it does so for some data."""
    return any(map(is_missing, value.values if isinstance(value, ChosenVariable) else (value,)))


def is_picked(value: Any) -> bool:
    """Whether data tell behind the graph if there is such an attribute. (Other values are not looked at.)"""
    return isinstance(value, ChosenVariable) and may_be_missing(value)


def pick_attributes() -> None:
    """Set or remove such attributes behind all others."""
    update: Any = SideEffects.codegen_update_mutated

    @functools.wraps(update)
    def codegen_update_mutated(self: Any, codegen: Any, *args: Any, **kwargs: Any) -> None:
        table = self.store_attr_mutations
        written = [(item, name, value) for item, names in table.items() for name, value in names.items()]
        picked = [one for one in written if is_picked(one[-1])]
        all_names = {item: dict(table[item]) for item, *_ in picked}
        for item, name, _ in picked:
            del table[item][name]
        try:
            update(self, codegen, *args, **kwargs)
        finally:
            table.update(all_names)
        for item, name, value in picked:
            codegen.add_push_null(lambda: codegen.load_import_from(fields.__name__, fields.set_or_remove.__name__))
            codegen(item.source)
            codegen(ConstantVariable.create(name))
            codegen(value)
            codegen.extend_output([*create_call_function(3, False), create_instruction("POP_TOP")])

    made: Any = codegen_update_mutated
    SideEffects.codegen_update_mutated = made  # type: ignore[method-assign]
