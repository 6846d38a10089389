"""Tensors that are made with `requires_grad=True` in the function: made without, and told so behind it.

    w = torch.zeros(3, requires_grad=True)     w = torch.zeros(3).requires_grad_()

Dynamo takes the right one, for gradients that are computed inside, and refuses the left one. What is returned must not
depend on such a tensor: Dynamo says so for both.

Private: TorchInGraphFunctionVariable.call_function.
tests/capture/test_leaves_made.py shows the error without this, and fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables.torch import TorchInGraphFunctionVariable

from autograph_torch.capture.patching import patched

_WANTED = "requires_grad"


@contextlib.contextmanager
def leaves_made() -> Iterator[None]:
    """While this is in force, such tensors are made in two steps."""
    called = TorchInGraphFunctionVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        wanted = kwargs.get(_WANTED)
        if wanted is None or not wanted.is_python_constant() or wanted.as_python_constant() is not True:
            return called(self, tx, args, kwargs)
        made = called(self, tx, args, {name: value for name, value in kwargs.items() if name != _WANTED})
        return made.call_method(tx, "requires_grad_", [], {}) if made.is_tensor() else made

    with patched(TorchInGraphFunctionVariable, call_function=call_function):
        yield
