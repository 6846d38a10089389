"""Reading a local variable that may not be bound, of the function itself or of one around it."""

from __future__ import annotations

from typing import Any

from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail
from autograph_torch.runtime.values import Maybe, Undefined, free_message, unbound_message


def bound(value: Any) -> Any:
    """The value of a variable.

    Raises:
        UnboundLocalError: it is not bound; in the graph, when the graph comes to it.
    """
    if isinstance(value, Undefined):
        raise value.error()  # a branch ends in it
    if isinstance(value, Maybe):
        return cond(value.flag, lambda: value.value, lambda: fail(UnboundLocalError, unbound_message(value.name)))
    return value


def free(value: Any) -> Any:
    """As `bound`, in a function or lambda that reads a variable of the function around it.

    Raises:
        NameError: it is not bound; in the graph, when the graph comes to it.
    """
    if isinstance(value, Undefined):
        raise value.error_of_free()
    if isinstance(value, Maybe):
        return cond(value.flag, lambda: value.value, lambda: fail(NameError, free_message(value.name)))
    return value
