"""Questions for attributes, as Python asks them: what the class runs for one is run once (capture/lookups.py)."""

from __future__ import annotations

from typing import Any


def attribute_or(owner: Any, name: str, default: Any) -> Any:
    """`getattr(owner, name, default)`."""
    try:
        return getattr(owner, name)
    except AttributeError:
        return default


def has_attribute(owner: Any, name: str) -> bool:
    """`hasattr(owner, name)`."""
    try:
        getattr(owner, name)
    except AttributeError:
        return False
    return True
