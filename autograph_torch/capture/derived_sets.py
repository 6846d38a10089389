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

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import ConstantVariable, ListVariable, SetVariable, user_defined

from autograph_torch.capture.patching import patched
from autograph_torch.capture.written_behind import Write, writing_behind
from autograph_torch.runtime import written_containers

_DERIVED: Any = getattr(user_defined, "UserDefinedSetVariable", None)  # not in torch 2.11


@contextlib.contextmanager
def derived_sets() -> Iterator[None]:
    """While converted functions are traced."""
    if _DERIVED is None:
        yield
        return
    write_back = SideEffects.codegen_update_mutated
    with patched(SideEffects, codegen_update_mutated=writing_behind(write_back, _writes)):
        yield


def _writes(effects: Any) -> list[Write]:
    written = [(one, one._base_vt) for one in effects._get_modified_vars() if _is_written(effects, one)]
    return [
        (
            written_containers.write_set,
            [one.source, ListVariable([member.vt for member in held.items]), ConstantVariable.create(_has_lost(held))],
        )
        for one, held in written
    ]


def _is_written(effects: Any, variable: Any) -> bool:
    held = variable._base_vt if isinstance(variable, _DERIVED) else None
    return type(held) is SetVariable and effects.is_modified(held) and held.has_new_items() | _has_lost(held)


def _has_lost(held: Any) -> bool:
    """Whether a member has gone that was there before; it may be there again."""
    return held.should_reconstruct_all or not held.original_items.keys() <= held.items.keys()
