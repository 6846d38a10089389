"""A deque from outside of a trace keeps its `maxlen`: Dynamo forgets it (torch 2.13), and the result is wrong.

    self.window = deque(maxlen=2)           len(self.window) is 3 in the trace after one append too many
    self.window.append(x)

What such a deque holds when the graph has returned is written back by `clear` and `extend`: it is never too long, so
the order of the writes, for whose sake Dynamo refuses these deques, does not matter. tests/capture/test_deques.py shows
the error without this, and fails when torch no longer needs it.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from typing import Any

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import AttrSource
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables import ConstantVariable
from torch._dynamo.variables.builder import VariableBuilder
from torch._dynamo.variables.lists import DequeVariable

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def deques_with_lengths() -> Iterator[None]:
    """While converted functions are traced."""
    track, write_back = SideEffects.track_mutable, SideEffects.codegen_update_mutated

    def track_mutable(self: Any, value: Any, variable: Any, *args: Any) -> Any:
        if type(value) is deque:
            source = AttrSource(variable.source, "maxlen")
            variable.maxlen = VariableBuilder(InstructionTranslator.current_tx(), source)(value.maxlen)
        return track(self, value, variable, *args)

    def codegen_update_mutated(self: Any, *args: Any, **kwargs: Any) -> None:
        deques = [one for one in self._get_modified_vars() if isinstance(one, DequeVariable)]
        lengths = [one.maxlen for one in deques]
        for one in deques:
            one.maxlen = ConstantVariable.create(None)
        try:
            write_back(self, *args, **kwargs)
        finally:
            for one, length in zip(deques, lengths, strict=True):
                one.maxlen = length

    with patched(SideEffects, track_mutable=track_mutable, codegen_update_mutated=codegen_update_mutated):
        yield
