"""Objects of classes derived from Python's immutable ones hold what they are made of as it is then.

    class Names(frozenset): ...
    names = Names(found)                Dynamo (torch 2.13) makes it again behind the graph, of the same list
    found.append("b")                   or of an iterator, which is spent

    class Length(float):                `super().__new__(cls, value)` in a `__new__` of its own
        def __new__(cls, value): ...    is followed: Dynamo does so for tuples alone

Private: BuiltinVariable.call_method, SideEffects.track_new_user_defined_object.
tests/capture/test_derived_constructors.py shows what torch does without this.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables import (
    ConstDictVariable,
    ListVariable,
    SetVariable,
    TupleVariable,
    UserDefinedClassVariable,
)
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.lists import DequeVariable

from autograph_torch.capture.patching import method_of, patched
from autograph_torch.runtime.refusal import raise_refusal
from autograph_torch.runtime.tuples import is_of_torch

_BASES = (int, float, str, frozenset)
_CHANGING = (ListVariable, DequeVariable, ConstDictVariable, SetVariable)


@contextlib.contextmanager
def derived_constructors() -> Iterator[None]:
    """While converted functions are traced."""
    call = method_of(BuiltinVariable, "call_method")

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "__new__" and not kwargs and _derives(self.fn, args):
            return tx.output.side_effects.track_new_user_defined_object(self, args[0], list(args[1:]), tx=tx)
        return call(self, tx, name, args, kwargs)

    track = SideEffects.track_new_user_defined_object

    def track_new(self: Any, base: Any, cls: Any, init_args: Any, **kwargs: Any) -> Any:
        return track(self, base, cls, _as_they_are(cls.value, init_args), **kwargs)

    with (
        patched(BuiltinVariable, call_method=call_method),
        patched(SideEffects, track_new_user_defined_object=track_new),
    ):
        yield


def _as_they_are(cls: type, args: Any) -> Any:
    """What an object is made of, with what it holds in a tuple of its own."""
    if issubclass(cls, (int, float, str)) and any(isinstance(one.realize(), _CHANGING) for one in args):
        raise_refusal("AG320", f"a {cls.__name__} of a container", "make it of a text or number")
    held = args[0].realize() if issubclass(cls, (tuple, frozenset)) and len(args) == 1 else None
    if held is None or type(held) is TupleVariable or is_of_torch(cls):
        return args
    return [BuiltinVariable(tuple).call_function(InstructionTranslator.current_tx(), [held], {})]


def _derives(base: Any, args: Any) -> bool:
    """Whether an object of a class of the user's is to be made by the `__new__` of its base."""
    cls = args[0].realize() if args and base in _BASES else None
    return isinstance(cls, UserDefinedClassVariable) and issubclass(cls.value, base) and cls.value is not base
