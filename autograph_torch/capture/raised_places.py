"""The lines on which exceptions were raised that a branch ends in, whatever its data (runtime/branch.py).

    def check(x):
        if x.max() > 1:
            raise_error()          the branch ends in it; its place is the line inside of `raise_error`

When the branch has been left, the frames that the exception came through are gone. So they are noted when it is raised.

Private: how InstructionTranslatorBase raises, and which exception (capture/dynamo_names.py).
tests/capture/test_raised_places.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo.exc import ObservedException
from torch._dynamo.symbolic_convert import InstructionTranslatorBase

from autograph_torch.capture.dynamo_names import RAISE, raised_exception
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.places import Place

_NOTED = "_autograph_raised_at"  # of the tracer's variable for an exception


@contextlib.contextmanager
def places_of_raises(places_around: Callable[[Any], tuple[Place, ...]]) -> Iterator[None]:
    """While this is in force, the tracer's exceptions know where they were raised first."""
    raise_variable = getattr(InstructionTranslatorBase, RAISE)

    def raise_and_note(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return raise_variable(self, *args, **kwargs)
        except ObservedException:
            raised = raised_exception(self)
            if not hasattr(raised, _NOTED):
                setattr(raised, _NOTED, places_around(self))
            raise

    with patched(InstructionTranslatorBase, **{RAISE: raise_and_note}):
        yield


def raised_at(error: Any) -> tuple[Place, ...]:
    """The places of the program at which an exception was raised, innermost first; none where that is not known."""
    return getattr(error.realize(), _NOTED, ())
