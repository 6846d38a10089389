"""Constants that are equal, and not the same: later calls have to agree on which.

    def step(x, bound): return x / bound      0.0 in the first call, -0.0 in the second
    list(kept)                                {1} in the first call, {True} in the second; {0, 8}, and {8, 0}

Dynamo compares what a graph has for a constant by `==`, and its type: of a zero not the sign, of the elements of a set
neither the types nor the order, which follows from their way in. In plain torch.compile, too (torch 2.13).

Private: GuardBuilder.EQUALS_MATCH.
tests/capture/test_equal_constants.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from torch._dynamo.guards import GuardBuilder

from autograph_torch.capture.dynamo_names import expression_of
from autograph_torch.capture.later_calls import functions_of_guards
from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def equal_constants() -> Iterator[None]:
    """While this is in force, they do."""
    match = GuardBuilder.EQUALS_MATCH

    @functools.wraps(match)  # torch asks for its name
    def equals_match(self: Any, guard: Any, *args: Any, **kwargs: Any) -> None:
        match(self, guard, *args, **kwargs)
        name = expression_of(guard.originating_source)
        if name is not None:
            _agree(self, name, eval(name, {**functions_of_guards(), "L": self.scope["L"], "G": self.scope["G"]}))

    with patched(GuardBuilder, EQUALS_MATCH=equals_match):
        yield


def _agree(builder: Any, name: str, value: Any) -> None:
    """Ask whether what has this name is the value, where another one is equal to it."""
    names: dict[str, Any] = {}
    if type(value) in (set, frozenset):
        part = f"[*{name}] == ___elements and [*map(type, {name})] == ___types"
        names = {"___elements": [*value], "___types": [*map(type, value)]}
    elif _has_zero(value):
        part = f"repr({name}) == {repr(value)!r}"
    else:
        return
    builder.add_python_lambda_leaf_guard_to_root([part], [part], closure_vars={**functions_of_guards(), **names})


def _has_zero(value: Any) -> bool:
    if type(value) is tuple:
        return any(_has_zero(one) for one in value)
    return type(value) is float and value == 0
