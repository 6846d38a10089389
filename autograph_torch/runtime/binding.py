"""Reading a local variable that may not be bound, of the function itself or of one around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail
from autograph_torch.runtime.values import Maybe, Undefined, free_message, unbound_message


def bound(value: Any) -> Any:
    """The value of a variable.

    Raises:
        UnboundLocalError: it is not bound; in the graph, when the graph comes to it.
    """
    return _read(value, UnboundLocalError, unbound_message)


def free(value: Any) -> Any:
    """The value of a variable of the function around the one that reads it.

    Raises:
        NameError: it is not bound; in the graph, when the graph comes to it.
    """
    return _read(value, NameError, free_message)


def _read(value: Any, kind: type[Exception], message: Callable[[str], str]) -> Any:
    if isinstance(value, Undefined):
        raise kind(message(value.name))  # a branch ends in it
    if isinstance(value, Maybe):
        return cond(value.flag, lambda: value.value, lambda: fail(kind, message(value.name)))
    return value
