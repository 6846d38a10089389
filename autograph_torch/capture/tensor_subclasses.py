"""`Subclass(x, meta)` of a tensor class with `__new__` and `__init__` of its own: both get the arguments.

    class Image(torch.Tensor):
        def __new__(cls, x, spacing=1.0): return torch.as_tensor(x).as_subclass(cls)
        def __init__(self, x, spacing=1.0): self.spacing = spacing

Dynamo hands the arguments to `__new__` alone, and stops at an `__init__` that needs them.

Private: TensorSubclassVariable.call_function and SideEffects._track_obj.
tests/capture/test_tensor_subclasses.py shows the error without this, and fails when torch no longer needs it.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables.base import AttributeMutationNew, VariableTracker
from torch._dynamo.variables.tensor import TensorSubclassVariable

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def tensor_subclasses() -> Iterator[None]:
    """While this is in force, such tensors are made."""
    original = TensorSubclassVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        new, initial = self.value.__new__, self.value.__init__
        if new is torch.Tensor.__new__ or not isinstance(initial, types.FunctionType):
            return original(self, tx, args, kwargs)
        made = VariableTracker.build(tx, new).call_function(tx, [self, *args], kwargs)
        if made.is_tensor() and made.python_type() is self.value:
            VariableTracker.build(tx, initial).call_function(tx, [made, *args], kwargs)
            tx.output.side_effects._track_obj(object(), made, mutation_type_cls=AttributeMutationNew)
        return made

    with patched(TensorSubclassVariable, call_function=call_function):
        yield
