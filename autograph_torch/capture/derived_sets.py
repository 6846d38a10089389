"""Sets of the user's own classes hold behind the graph what they hold in the trace.

    class Names(set): ...
    names = Names(["a"])                empty behind the graph, without this
    self.names.add("b")                 and this one as it was before

Dynamo (torch 2.13) writes back what objects of classes derived from a list or dict hold, and leaves out sets.

Private: SideEffects.codegen_update_mutated and _get_modified_vars, UserDefinedSetVariable and what it holds its members
in (`_base_vt`), `should_reconstruct_all` and `original_items` of that. tests/capture/test_derived_sets.py shows what
torch does without this.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.bytecode_transformation import create_call_function, create_instruction
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import ConstantVariable, ListVariable, SetVariable, user_defined

from autograph_torch.capture.patching import patched
from autograph_torch.runtime import written_sets

_DERIVED: Any = getattr(user_defined, "UserDefinedSetVariable", None)  # not in torch 2.11


@contextlib.contextmanager
def derived_sets() -> Iterator[None]:
    """While converted functions are traced."""
    if _DERIVED is None:
        yield
        return
    write_back = SideEffects.codegen_update_mutated

    def codegen_update_mutated(self: Any, codegen: Any, *args: Any, **kwargs: Any) -> None:
        written = [one for one in self._get_modified_vars() if _is_written(self, one)]
        for one in written:  # what they are to hold is read before anything is written
            held = one._base_vt
            members = ListVariable([member.vt for member in held.items])
            codegen.add_push_null(lambda: codegen.load_import_from(written_sets.__name__, written_sets.write.__name__))
            for given in (one, members, ConstantVariable.create(_has_lost(held))):
                codegen(given)
        write_back(self, codegen, *args, **kwargs)
        for _ in written:  # and they hold it when all other objects are as they shall be: their hashes may ask them
            codegen.extend_output([*create_call_function(3, False), create_instruction("POP_TOP")])

    with patched(SideEffects, codegen_update_mutated=codegen_update_mutated):
        yield


def _is_written(effects: Any, variable: Any) -> bool:
    held = variable._base_vt if isinstance(variable, _DERIVED) else None
    return type(held) is SetVariable and effects.is_modified(held) and held.has_new_items() | _has_lost(held)


def _has_lost(held: Any) -> bool:
    """Whether a member has gone that was there before; it may be there again."""
    return held.should_reconstruct_all or not held.original_items.keys() <= held.items.keys()
