"""A guard is installed once.

Dynamo means to: a guard that it has is not added again. But what it has remembers the line that asked for it and what
comes does not, so the two are never equal. Each call of a function with default arguments adds one more guard on their
number, and is compared with all before it.

    def decided(flag, limit=1): ...        15,000 calls: 15,000 guards; here it is one

Private: GuardsSet.add, and source_to_guards (a torch without it adds them all).
tests/capture/test_guards.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._guards import GuardsSet

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def guards_once() -> Iterator[None]:
    """While this is in force, a guard that asks the same of the same is not added again."""
    add: Any = GuardsSet.add

    def add_new(self: Any, guard: Any, **kwargs: Any) -> None:
        known = getattr(self, "source_to_guards", {}).get(guard.originating_source, ())
        if not any(one.create_fn is guard.create_fn for one in known):
            add(self, guard, **kwargs)

    with patched(GuardsSet, add=add_new):
        yield
