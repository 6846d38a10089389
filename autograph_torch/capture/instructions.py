"""Dynamo takes the code of a function apart once, not each time it follows a call of it.

It keeps the instructions of the 128 functions of last use. A trace of converted code follows more of them than that, in
turn, and so finds nearly none: a twentieth of the time of a trace went into this.

Two code objects are equal for Python when only their files differ, as where one file is a copy of another. Among the
instructions are the codes of inner functions, and by those the tracer tells places: here each file has its own.

Private: bytecode_transformation._cached_cleaned_instructions, a functools.lru_cache.
tests/capture/test_instructions.py fails clearly when torch changes it.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from torch._dynamo import bytecode_transformation

_FUNCTIONS = 4096


def keep_instructions() -> None:
    """Let Dynamo remember the instructions of as many functions as a trace follows."""
    kept: Any = getattr(bytecode_transformation, "_cached_cleaned_instructions", None)
    if hasattr(kept, "__wrapped__"):
        larger: Any = _Kept(kept.__wrapped__)
        bytecode_transformation._cached_cleaned_instructions = larger


class _Kept:
    """The instructions of codes, by code and file; called as the function that takes a code apart."""

    def __init__(self, take_apart: Callable[..., Any]) -> None:
        self.__wrapped__ = take_apart
        self._by_file = functools.lru_cache(maxsize=_FUNCTIONS)(lambda code, _, *args: take_apart(code, *args))

    def __call__(self, code: types.CodeType, *args: Any) -> Any:
        return self._by_file(code, code.co_filename, *args)

    def cache_info(self) -> Any:
        """As that of `functools.lru_cache`."""
        return self._by_file.cache_info()

    def cache_clear(self) -> None:
        """As that of `functools.lru_cache`."""
        self._by_file.cache_clear()
