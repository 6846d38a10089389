"""An integer that has changed between two calls is a number of the graph, wherever it lies.

    self.steps += 1             an attribute of a module
    COUNTS["seen"] += 1         what a global name leads to

By itself torch makes a new graph for each value of those (of the attributes of other objects and of arguments it does
not), until it gives up at the ninth. Like any other integer, each is a constant as long as it stays the same.

Private: builder.is_int_specialization_case, and what keeps note of the values that earlier calls have had.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo import config
from torch._dynamo.pgo import FrameStateSizeEntry, auto_dynamic, process_automatic_dynamic
from torch._dynamo.source import is_from_defaults
from torch._dynamo.variables import builder

from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing


@contextlib.contextmanager
def changing_integers() -> Iterator[None]:
    """While this is in force, torch's rule for integers that are constants holds for those that stay the same."""
    original = builder.is_int_specialization_case

    def is_constant(value: Any, source: Any) -> bool:
        if not original(value, source):
            return False
        return is_from_defaults(source) or not _has_changed(value, source)

    with patched(builder, is_int_specialization_case=is_constant):
        yield


def _has_changed(value: int, source: Any) -> bool:
    """Whether an earlier call of the function has had another value there."""
    if not config.automatic_dynamic_shapes:
        return False
    entry = FrameStateSizeEntry.make_scalar(value)
    seen = process_automatic_dynamic(tracing.current_translator(), source.name, entry)
    return seen.scalar is auto_dynamic
