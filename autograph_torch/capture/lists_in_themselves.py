"""A list or dict from around the trace that has changed, and is put into itself, is that very object.

    history.append(history)                 behind the call `history[0] is history`
    root["child"] = {"parent": root}

Dynamo (torch 2.13) makes a new list of the contents, and gives them to the one from around the trace. What leads back
to it from there gets the new one, which is kept in a variable for such lists as the trace has made.

Private: PyCodegen.__call__. tests/capture/test_lists_in_themselves.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.codegen import PyCodegen
from torch._dynamo.variables.base import ValueMutationExisting

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def lists_in_themselves() -> Iterator[None]:
    """While this is in force, they are."""
    original = PyCodegen.__call__

    def generate(self: Any, value: Any, allow_cache: bool = True) -> None:
        from_around = isinstance(getattr(value, "mutation_type", None), ValueMutationExisting)
        original(self, value.source if allow_cache and from_around and value.source else value, allow_cache)

    with patched(PyCodegen, __call__=generate):
        yield
