"""Values that stand for the absence of one."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, NoReturn

import torch

from autograph_torch.runtime.refusal import refuse


def unbound_message(name: str) -> str:
    """What Python says when a variable is read before it is bound."""
    if sys.version_info < (3, 11):
        return f"local variable '{name}' referenced before assignment"
    return f"cannot access local variable '{name}' where it is not associated with a value"


def free_message(name: str) -> str:
    """What Python says when a function reads a variable of one around it before that is bound."""
    if sys.version_info < (3, 11):
        return f"free variable '{name}' referenced before assignment in enclosing scope"
    return f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"


def unbound_refusal(name: str) -> tuple[str, str, str]:
    """The code, message and advice for a read that may find a variable unbound."""
    advice = f"bind `{name}` before the `if` or loop, or in every branch"
    return "AG312", f"`{name}` may be read before it is bound", advice


class Undefined:
    """A local variable that is not bound yet. Any use raises UnboundLocalError, as reading the variable would."""

    def __init__(self, name: str) -> None:
        self.name = name

    def refuse_use(self, *_: Any, **__: Any) -> NoReturn:
        if torch.compiler.is_compiling():
            refuse(*unbound_refusal(self.name))
        raise self.error()

    def error(self) -> Exception:
        return UnboundLocalError(unbound_message(self.name))

    __bool__ = __call__ = __iter__ = __len__ = __getitem__ = __setitem__ = __contains__ = refuse_use
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = refuse_use
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = refuse_use
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __neg__ = __pos__ = __abs__ = __invert__ = refuse_use
    __lt__ = __le__ = __gt__ = __ge__ = __int__ = __float__ = __index__ = __format__ = __str__ = refuse_use


class Missing(Undefined):
    """An attribute that is not there yet. Any use raises AttributeError."""

    def error(self) -> Exception:
        return AttributeError(self.name)


class Maybe:
    """A variable that some path has bound: whether this run did (a 0-d bool tensor), and its value if so."""

    def __init__(self, flag: Any, value: Any, name: str) -> None:
        self.flag = flag
        self.value = value
        self.name = name


def undefined(name: str) -> Any:
    """Declare a local variable that is not bound yet."""
    return Undefined(name)


class Hole:
    """A place in a result that this path does not fill and whose content nobody reads then."""


HOLE = Hole()


def unread() -> Any:
    """The value of a variable that is bound anew on every way to a read of it (passes/handlers.py)."""
    return HOLE


class Outcome(NamedTuple):
    """How a step of a loop ended: goes on, left the loop, or returned `value` from the function."""

    how: Any
    value: Any
    state: Any


NEXT, STOP, EXIT = 0, 1, 2
