"""The instructions that a frame runs next, up to a jump that depends on something.

Private: a translator's `instructions`, `indexof` and `instruction_pointer`.
tests/capture/test_callers.py and test_choices.py fail clearly when torch changes what this leans on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def ahead(translator: Any) -> Iterator[Any]:
    """The instructions from where a frame is, in order; a jump out of the first arm of `a if p else b` is followed."""
    place = translator.instruction_pointer
    while place < len(translator.instructions):
        one = translator.instructions[place]
        if one.opname == "JUMP_FORWARD":
            place = translator.indexof[one.target]
        else:
            yield one
            place += 1
