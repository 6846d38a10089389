"""Instructions that Dynamo does not know, or stops at.

    z = ag.cond(..., lambda: y.abs(), ...)      `del y` of a name that an inner function reads: the text has none, but
    del y                                       what it becomes has; a read behind it is refused by Dynamo

    try: import cudf                            an import that fails raises in the trace, too, and is handled there;
    except ImportError: cudf = None             in a branch it raises when the branch is taken

Private: the table of instructions (dispatch_table), SideEffects.load_cell and store_cell, DeletedVariable, popn,
raise_observed_exception. tests/capture/test_replaced_instructions.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import dis
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.symbolic_convert import (
    InliningGeneratorInstructionTranslator,
    InliningInstructionTranslator,
    InstructionTranslator,
)
from torch._dynamo.variables.misc import DeletedVariable

_DELETE, _IMPORT = dis.opmap["DELETE_DEREF"], dis.opmap["IMPORT_NAME"]
_TRANSLATORS: tuple[Any, ...] = (
    InstructionTranslator,
    InliningInstructionTranslator,
    InliningGeneratorInstructionTranslator,
)


@contextlib.contextmanager
def replaced_instructions() -> Iterator[None]:
    """While this is in force, such instructions are followed."""
    before = [(owner, code, owner.dispatch_table[code]) for owner in _TRANSLATORS for code in (_DELETE, _IMPORT)]
    for owner in _TRANSLATORS:
        owner.dispatch_table[_DELETE] = _delete
        owner.dispatch_table[_IMPORT] = _importing(owner.dispatch_table[_IMPORT])
    try:
        yield
    finally:
        for owner, code, instruction in before:
            owner.dispatch_table[code] = instruction


def _delete(translator: Any, instruction: Any) -> None:
    cell, effects = translator.symbolic_locals[instruction.argval], translator.output.side_effects
    effects.load_cell(cell)  # which stops where it has no value
    effects.store_cell(cell, DeletedVariable())


def _importing(original: Callable[..., None]) -> Callable[..., None]:
    def import_name(translator: Any, instruction: Any) -> None:
        level, names = (one.as_python_constant() for one in translator.stack[-2:])
        try:
            __import__(instruction.argval, translator.f_globals, None, names, level)
        except ImportError as error:
            translator.popn(2)
            raise_observed_exception(type(error), translator, args=[str(error)])
        original(translator, instruction)

    return import_name
