"""`del y` of a variable that an inner function reads: Dynamo has no instruction for it.

    z = ag.cond(..., lambda: y.abs(), ...)      the text has no inner function, but what it becomes has
    del y

A read behind it is refused by Dynamo, which knows deleted attributes.

Private: the table of instructions (dispatch_table), SideEffects.load_cell and store_cell, DeletedVariable.
tests/capture/test_deleted_cells.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import dis
from collections.abc import Iterator
from typing import Any

from torch._dynamo.symbolic_convert import (
    InliningGeneratorInstructionTranslator,
    InliningInstructionTranslator,
    InstructionTranslator,
)
from torch._dynamo.variables.misc import DeletedVariable

_DELETE = dis.opmap["DELETE_DEREF"]
_TRANSLATORS = (InstructionTranslator, InliningInstructionTranslator, InliningGeneratorInstructionTranslator)


@contextlib.contextmanager
def deleted_cells() -> Iterator[None]:
    """While this is in force, such variables may be deleted."""
    before = [owner.dispatch_table[_DELETE] for owner in _TRANSLATORS]
    for owner in _TRANSLATORS:
        owner.dispatch_table[_DELETE] = _delete
    try:
        yield
    finally:
        for owner, instruction in zip(_TRANSLATORS, before, strict=True):
            owner.dispatch_table[_DELETE] = instruction


def _delete(translator: Any, instruction: Any) -> None:
    cell, effects = translator.symbolic_locals[instruction.argval], translator.output.side_effects
    effects.load_cell(cell)  # which stops where it has no value
    effects.store_cell(cell, DeletedVariable())
