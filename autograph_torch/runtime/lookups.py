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


def key_of(table: dict[Any, Any], key: Any) -> Any:
    """The key of a dict that is equal to another."""
    return next(one for one in dict.__iter__(table) if one == key)
