"""What the Python that runs says where it raises: other versions, other texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def message_of(function: Callable[..., Any], *args: Any) -> str:
    """The text of the exception that a call raises."""
    try:
        return str(function(*args))
    except Exception as error:
        return str(error)
