"""How the tracer lets a body write to variables of the module (`global n`), and forget it behind the body.

    def count():                           if x.sum() > 0:
        global calls                           count()
        calls += 1                         return x * calls

Dynamo makes a new object for such a variable at each write, and takes one that has been written to for one of its table
of side effects ever after (private: symbolic_globals, NewGlobalVariable). A body's writes leave that table with the
body. Here each variable has one object in a trace, and one without a write in the table is read as if there were none.
tests/capture/test_standing_in.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

from typing import Any

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import GlobalSource
from torch._dynamo.symbolic_convert import InstructionTranslatorBase
from torch._dynamo.variables import NewGlobalVariable
from torch._dynamo.variables.base import VariableTracker

from autograph_torch.runtime import tracing


def allow_global_writes() -> None:
    """Let variables of the module keep their object for a whole trace; a write that is forgotten has not been there."""
    track, load = SideEffects.track_global_existing, InstructionTranslatorBase._load_global

    def track_one(self: Any, source: Any, item: Any) -> Any:
        known = _known()
        if source.global_name not in known:
            known[source.global_name] = track(self, source, item), item  # the item is kept: the table has its id
        variable, _ = known[source.global_name]
        self.id_to_variable[id(item)] = variable
        self.keepalive.append(item)
        return variable

    def load_global(self: Any, inst: Any) -> None:
        name, effects = inst.argval, self.output.side_effects
        variable, _ = _known().get(name, (None, None))
        if variable is None:
            load(self, inst)
        elif is_written(effects, variable, name):
            self.push(effects.load_attr(variable, name))
        else:
            self.symbolic_globals.pop(name, None)
            load(self, inst)

    SideEffects.track_global_existing = track_one  # type: ignore[method-assign]
    InstructionTranslatorBase._load_global = load_global  # type: ignore[method-assign]


def read_global(parent: Any, variable: NewGlobalVariable, name: str) -> Any:
    """What is in a variable of the module now."""
    effects = parent.output.side_effects
    if is_written(effects, variable, name):
        return effects.load_attr(variable, name)
    return VariableTracker.build(parent, parent.output.global_scope[name], GlobalSource(name))


def is_written(effects: Any, variable: Any, name: str) -> bool:
    """Whether a write to it is under way."""
    return bool(effects.has_pending_mutation_of_attr(variable, name))


def _known() -> dict[str, tuple[Any, Any]]:
    """By name: the object that stands for the variable, and what the table of side effects knows it by."""
    return tracing.notebook().setdefault("globals", {})  # type: ignore[no-any-return]
