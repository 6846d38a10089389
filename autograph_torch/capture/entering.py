"""Functions that Dynamo keeps out of traces are entered (capture/attempts.py): torch's switch, for those it can enter.

    warnings.warn("out of bounds")        a function in C: there is nothing to enter

With the switch torch asks for the file of each function it would skip, and ends in an assertion where there is none.

Private: trace_rules.lookup_inner and getfile. tests/capture/test_entering.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo import config, trace_rules

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def entering(wanted: bool) -> Iterator[None]:
    """While this is in force, such functions are entered, if that is wanted."""
    looked_up = trace_rules.lookup_inner

    def look_up(obj: Any, name: str | None = None, filename: str | None = None, *args: Any, **kwargs: Any) -> Any:
        if filename is not None or trace_rules.getfile(obj) is not None:
            return looked_up(obj, name, filename, *args, **kwargs)
        with config.patch(dont_skip_tracing=False):
            return looked_up(obj, name, filename, *args, **kwargs)

    with config.patch(dont_skip_tracing=wanted):
        if not wanted:
            yield
            return
        with patched(trace_rules, lookup_inner=look_up):
            yield
