"""`itertools.groupby` is traced as the generator that Python's documentation says it amounts to.

    for kind, tokens in itertools.groupby(kinds.tolist(), lambda kind: kind // 2):

Of Dynamo's own (torch 2.13) the key may be no positional argument, and no number that data decide; and its groups keep
their elements when the next one begins, which eager's lose. Keys are compared by `!=` alone: of a NaN, which is
one key with itself as the same object, the groups would be others, and it is refused.

tests/capture/test_consecutive_groups.py shows that torch needs it, and fails clearly when torch changes it.
Source: https://docs.python.org/3/library/itertools.html#itertools.groupby
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch._dynamo.variables import UserFunctionVariable
from torch._dynamo.variables.iter import ItertoolsVariable

from autograph_torch.capture.patching import patched
from autograph_torch.runtime.refusal import refuse


def _groups(iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> Iterator[tuple[Any, Iterator[Any]]]:
    values = iter(iterable)
    value: Any = None
    found: Any = None
    ended = False

    def group() -> Iterator[Any]:
        nonlocal value, found, ended
        wanted = found
        yield value
        for value in values:
            found = value if key is None else key(value)
            if found != wanted:
                return
            yield value
        ended = True

    for value in values:  # noqa: B007 (the first; there may be none)
        break
    else:
        return
    found = value if key is None else key(value)
    while not ended:
        if found != found:
            refuse("AG320", "`itertools.groupby` with a key that is not a number", "replace NaN before")
        current, members = found, group()
        yield current, members
        if found == current:
            for _ in members:
                pass


@contextlib.contextmanager
def groups_followed() -> Iterator[None]:
    """While converted functions are traced."""
    call = ItertoolsVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.value is not itertools.groupby:
            return call(self, tx, args, kwargs)
        groups: Any = _groups
        return UserFunctionVariable(groups).call_function(tx, args, kwargs)

    with patched(ItertoolsVariable, call_function=call_function):
        yield
