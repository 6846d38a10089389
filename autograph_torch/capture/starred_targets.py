"""`a, *rest = it` takes what comes first from an iterator, and then asks that for its iterator once more, for the rest.

    class Counter:
        def __iter__(self):
            self.n = 0
            return self
        def __next__(self): ...

    first, *rest = counter             (1, [1, 2, 3]): the rest begins anew; Dynamo gives (1, [2, 3])

Private: symbolic_convert.unpack_iterable, generic_iternext. tests/capture/test_starred_targets.py fails clearly when
torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo import symbolic_convert
from torch._dynamo.exc import ObservedUserStopIteration, handle_observed_exception
from torch._dynamo.variables import UserDefinedObjectVariable

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def starred_targets() -> Iterator[None]:
    """While this is in force, objects that are their own iterators are taken apart as in Python."""
    unpack: Any = getattr(symbolic_convert, "unpack_iterable", None)
    if unpack is None:  # torch before 2.13
        yield
        return

    def unpacked(tx: Any, iterable: Any) -> list[Any]:
        instruction = tx.current_instruction
        if instruction.opname != "UNPACK_EX" or not isinstance(iterable, UserDefinedObjectVariable):
            return unpack(tx, iterable)  # type: ignore[no-any-return]
        count = instruction.argval & 0xFF  # targets before the star
        first = _first(tx, iterable, count)
        return [*first, *(unpack(tx, iterable) if len(first) == count else [])]

    with patched(symbolic_convert, unpack_iterable=unpacked):
        yield


def _first(tx: Any, iterator: Any, count: int) -> list[Any]:
    """So many elements, or as many as there are."""
    from torch._dynamo.variables.object_protocol import generic_iternext

    found: list[Any] = []
    try:
        while len(found) < count:
            found.append(generic_iternext(tx, iterator))
    except ObservedUserStopIteration:
        handle_observed_exception(tx)
    return found
