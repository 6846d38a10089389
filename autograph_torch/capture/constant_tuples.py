"""A tuple or frozenset of constants that a call leaves in several places is one object there, as in Python.

    key = (1, "left")
    self.last = key
    return key                 `state.last is result`: Dynamo makes a constant of its own for each place

Private: is_safe_constant, by which PyCodegen tells what it makes anew. tests/capture/test_constant_tuples.py fails
clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo import codegen

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def constant_tuples() -> Iterator[None]:
    """While this is in force, they are made as other tuples are: once."""
    is_safe = codegen.is_safe_constant

    def is_constant(value: Any) -> bool:
        return is_safe(value) and not (isinstance(value, (tuple, frozenset)) and value)

    with patched(codegen, is_safe_constant=is_constant):
        yield
