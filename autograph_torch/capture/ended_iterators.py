"""A loop ends where its iterator does, not where that raises IndexError.

    for v in map(rows.__getitem__, range(3)):       IndexError, where rows has two elements: Dynamo ends the loop
    all(limits[k] > v for k, v in enumerate(x))     the same, in a generator

Private: ObservedIndexError of torch._dynamo.exc, which FOR_ITER and SEND take for the end of an iterator.
tests/capture/test_ended_iterators.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from torch._dynamo import exc

from autograph_torch.capture.patching import patched


class _Never(exc.ObservedException):
    """What no iterator raises."""


@contextlib.contextmanager
def ended_iterators() -> Iterator[None]:
    """While this is in force, an IndexError in an iterator is one."""
    with patched(exc, ObservedIndexError=_Never):
        yield
