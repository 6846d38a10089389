"""A guard is installed once.

Dynamo means to: a guard that it has is not added again. But what it has remembers the line that asked for it and what
comes does not, so the two are never equal. Each call of a function with default arguments adds one more guard on their
number, and each use of a module that two files import one more guard that it is the same module. All of them are
compared with all before, and asked in every call of the compiled function.

    def decided(flag, limit=1): ...        15,000 calls: 15,000 guards; here it is one

Private: GuardsSet.add, and source_to_guards (a torch without it adds them all).
tests/capture/test_guards.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from torch._guards import GuardsSet, Source

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def guards_once() -> Iterator[None]:
    """While this is in force, a guard that asks the same of the same is not added again."""
    add: Any = GuardsSet.add

    def add_new(self: Any, guard: Any, **kwargs: Any) -> None:
        known = getattr(self, "source_to_guards", {}).get(guard.originating_source, ())
        if not any(_ask_the_same(one.create_fn, guard.create_fn) for one in known):
            add(self, guard, **kwargs)

    with patched(GuardsSet, add=add_new):
        yield


def _ask_the_same(one: Any, other: Any) -> bool:
    """Whether two makers of guards are one; those with arguments are made anew for every guard."""
    if not isinstance(one, functools.partial) or not isinstance(other, functools.partial):
        return one is other
    if one.func is not other.func or one.keywords.keys() != other.keywords.keys() or len(one.args) != len(other.args):
        return False
    pairs = [*zip(one.args, other.args, strict=True), *((one.keywords[k], other.keywords[k]) for k in one.keywords)]
    return all(a is b or (isinstance(a, (Source, str, int)) and type(a) is type(b) and a == b) for a, b in pairs)
