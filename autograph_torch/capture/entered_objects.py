"""`with obj:` of objects that were there before the call, or that a function has brought: entered as those made in it.

    with self.scaler as scaler:           scaler.__enter__(), and scaler.__exit__(...), which may swallow the exception
        loss = scaler.scale(loss)

Dynamo enters objects of a user's class that the trace has made, and refuses the same object from outside. Here both are
method calls, which are found on the class, as Python does, before the block begins. Left to Dynamo are objects with an
`__enter__` of torch or of the standard library (it knows some, whose methods change what a trace does not follow) and
those with one of their own beside their class's.

Private: what `with` does (capture/entered_contexts.py), GenericContextWrappingVariable and what asks for it, and
UserDefinedClassVariable.call_function.
tests/capture/test_entered_objects.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import (
    GenericContextWrappingVariable,
    UserDefinedClassVariable,
    UserDefinedObjectVariable,
    UserFunctionVariable,
    UserMethodVariable,
)

from autograph_torch.capture.dynamo_names import get_attribute
from autograph_torch.capture.entered_contexts import entering_instead
from autograph_torch.capture.patching import patched
from autograph_torch.capture.policy import LIBRARIES

_METHODS = ("__enter__", "__exit__")


class _Entered(GenericContextWrappingVariable):  # type: ignore[misc]
    """An object for the time of a block; what is seen of it is the object's own variable."""

    def __init__(self, tx: Any, entered: Any) -> None:
        super().__init__(entered.value, source=entered.source)
        self._leave = get_attribute(entered, tx, "__exit__")
        self._enter = get_attribute(entered, tx, "__enter__")

    def enter(self, tx: Any) -> Any:
        return self._enter.call_function(tx, [], {})

    def exit(self, tx: Any, *args: Any) -> Any:
        left = self._leave.call_function(tx, list(args), {})
        tx.active_generic_context_managers.pop()
        return left


@contextlib.contextmanager
def entered_objects() -> Iterator[None]:
    """While this is in force, such objects are entered."""
    call = UserDefinedClassVariable.call_function

    def instead(entered: Any, tx: Any) -> Any:
        return _Entered(tx, entered) if _is_of_a_users_class(entered, tx) else None

    def call_class(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        bound = _method(*args) if self.value is types.MethodType and len(args) == 2 else None
        return call(self, tx, args, kwargs) if bound is None else bound

    with (
        entering_instead(instead),
        patched(UserDefinedClassVariable, call_function=call_class),
    ):
        yield


def _method(function: Any, entered: Any) -> Any:
    """`MethodType(cls.__exit__, obj)`, which contextlib.ExitStack keeps; None for what Dynamo makes itself."""
    entered = entered.realize()
    if not isinstance(function, UserFunctionVariable) or function.get_name() not in _METHODS:
        return None
    if not isinstance(entered, UserDefinedObjectVariable) or isinstance(entered, GenericContextWrappingVariable):
        return None
    return UserMethodVariable(function.fn, entered)


def _is_of_a_users_class(variable: Any, tx: Any) -> bool:
    if not isinstance(variable, UserDefinedObjectVariable) or isinstance(variable, GenericContextWrappingVariable):
        return False
    kind = type(variable.value)
    found = [inspect.getattr_static(kind, name, None) for name in _METHODS]
    modules = [str(getattr(one, "__module__", None)).partition(".")[0] for one in found]
    if not all(map(inspect.isfunction, found)) or not LIBRARIES.isdisjoint(modules):
        return False
    return not any(_has_itself(variable, tx, name) for name in _METHODS)


def _has_itself(variable: Any, tx: Any, name: str) -> bool:
    effects = tx.output.side_effects
    return name in getattr(variable.value, "__dict__", ()) or effects.has_pending_mutation_of_attr(variable, name)
