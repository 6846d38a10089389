"""A deque keeps its `maxlen`: of one from outside of a trace Dynamo forgets it (torch 2.13), and the result is wrong.

    self.window = deque(maxlen=2)           len(self.window) is 3 in the trace after one append too many
    self.window.append(x)

Nor does it see to the `maxlen` of copies, of deques that are repeated, and where it is 0; and one that is a number
among the arguments stops the trace when a second call has another.

And it does not know `rotate`.

What such a deque holds when the graph has returned is written back by `clear` and `extend`: it is never too long, so
the order of the writes, for whose sake Dynamo refuses these deques, does not matter. tests/capture/test_deques.py shows
the error without this, and fails when torch no longer needs it.
"""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Iterator
from typing import Any

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import AttrSource
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables import ConstantVariable, SymNodeVariable
from torch._dynamo.variables.base import ValueMutationNew
from torch._dynamo.variables.builder import VariableBuilder
from torch._dynamo.variables.lists import DequeVariable

from autograph_torch.capture.patching import patched

_METHODS = tuple(name for name in ("call_method", "sq_repeat_impl") if hasattr(DequeVariable, name))  # or torch 2.11


@contextlib.contextmanager
def deques_with_lengths() -> Iterator[None]:
    """While converted functions are traced."""
    track, write_back = SideEffects.track_mutable, SideEffects.codegen_update_mutated
    init = DequeVariable.__init__

    def track_mutable(self: Any, value: Any, variable: Any, *args: Any) -> Any:
        if type(value) is deque:
            source = AttrSource(variable.source, "maxlen")
            variable.maxlen = constant_length(VariableBuilder(InstructionTranslator.current_tx(), source)(value.maxlen))
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

    methods = {name: _to_length(getattr(DequeVariable, name)) for name in _METHODS}
    call = methods["call_method"]

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        steps = _steps(args) if name == "rotate" and not kwargs and self.is_mutable() else None
        if steps is None:
            return call(self, tx, name, args, kwargs)
        tx.output.side_effects.mutation(self)
        turned = deque(self.items)
        turned.rotate(steps)
        self.items[:] = turned
        return ConstantVariable.create(None)

    def made(self: Any, items: Any, maxlen: Any = None, **kwargs: Any) -> None:
        init(self, items, None if maxlen is None else constant_length(maxlen), **kwargs)
        _keep_to_length(self)

    with (
        patched(SideEffects, track_mutable=track_mutable, codegen_update_mutated=codegen_update_mutated),
        patched(DequeVariable, __init__=made, **{**methods, "call_method": call_method}),
    ):
        yield


def _steps(args: Any) -> int | None:
    """How far a deque is to turn; None where that is no constant."""
    if not args:
        return 1
    constant = len(args) == 1 and args[0].is_python_constant()
    steps = args[0].as_python_constant() if constant else None
    return steps if isinstance(steps, int) else None


def _to_length(method: Any) -> Any:
    """A method of deques, which may make them longer, or give a new one."""

    @functools.wraps(method)
    def to_length(self: Any, *args: Any, **kwargs: Any) -> Any:
        held = set(self.items)
        result = method(self, *args, **kwargs)
        _keep_to_length(self)
        if isinstance(result, DequeVariable) and result is not self and result not in held:
            result.maxlen, result.mutation_type = self.maxlen, ValueMutationNew()
            _keep_to_length(result)
        return result

    return to_length


def constant_length(length: Any) -> Any:
    """A length that calls have differed in: this graph is for the one of this call."""
    length = length.realize()
    return ConstantVariable.create(length.evaluate_expr()) if isinstance(length, SymNodeVariable) else length


def _keep_to_length(deque: Any) -> None:
    """Leave out what a deque has no room for: the first ones, where Dynamo has not seen to it itself."""
    length = deque.maxlen.as_python_constant()
    if length is not None and len(deque.items) > length:
        del deque.items[: len(deque.items) - length]
