"""Dynamo takes the code of a function apart once, not each time it follows a call of it.

It keeps the instructions of the 128 functions of last use. A trace of converted code follows more of them than that, in
turn, and so finds nearly none: a twentieth of the time of a trace went into this.

Private: bytecode_transformation._cached_cleaned_instructions, a functools.lru_cache.
tests/capture/test_instructions.py fails clearly when torch changes it.
"""

from __future__ import annotations

import functools
from typing import Any

from torch._dynamo import bytecode_transformation

_FUNCTIONS = 4096


def keep_instructions() -> None:
    """Let Dynamo remember the instructions of as many functions as a trace follows."""
    kept: Any = getattr(bytecode_transformation, "_cached_cleaned_instructions", None)
    if hasattr(kept, "__wrapped__"):
        larger = functools.lru_cache(maxsize=_FUNCTIONS)(kept.__wrapped__)
        bytecode_transformation._cached_cleaned_instructions = larger
