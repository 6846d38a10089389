"""For the tracer a converted module and the one it was made of are one object: they have one `__dict__`.

    fast = autograph(model)

    @autograph
    def step(x):
        fast.steps += 1         # what the forward pass reads as self.steps
        return fast(x)          # runs converted, also where the function around does not

Dynamo keeps what is set on an object by object: with two of them, each would have a value of its own until the graph
has returned.

Private: VariableBuilder.wrap_module and UnspecializedNNModuleVariable.call_function.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch._dynamo.guards import GuardBuilder
from torch._dynamo.source import AttrSource, TypeSource
from torch._dynamo.variables import UserFunctionVariable
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builder import VariableBuilder
from torch._dynamo.variables.nn_module import UnspecializedNNModuleVariable

from autograph_torch.capture.originals import ORIGINAL

_CALLS = "_autograph_calls_of_modules"


def see_one_module() -> None:
    """Put the original in the place of a converted module wherever it is traced (once for the process)."""
    wrapped, called = VariableBuilder.wrap_module, UnspecializedNNModuleVariable.call_function

    @functools.wraps(wrapped)
    def wrap_module(self: Any, value: torch.nn.Module) -> Any:
        if ORIGINAL not in vars(type(value)):
            return wrapped(self, value)
        self.install_guards(GuardBuilder.TYPE_MATCH)
        original = getattr(value, ORIGINAL)
        function: Any = type(value).__call__
        call = UserFunctionVariable(function, source=AttrSource(TypeSource(self.source), "__call__"))
        self.tx.output.__dict__.setdefault(_CALLS, {})[id(original)] = call
        return VariableTracker.build(self.tx, original, source=AttrSource(self.source, ORIGINAL), realize=True)

    @functools.wraps(called)
    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        converted = tx.output.__dict__.get(_CALLS, {}).get(id(self.value))
        if converted is None:
            return called(self, tx, args, kwargs)
        return converted.call_function(tx, [self, *args], kwargs)

    VariableBuilder.wrap_module = wrap_module  # type: ignore[method-assign]
    UnspecializedNNModuleVariable.call_function = call_function  # type: ignore[method-assign]
