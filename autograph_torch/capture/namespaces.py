"""Objects of types.SimpleNamespace are made and written to as those of a class without methods.

    state = SimpleNamespace(x=x0, steps=0)      Dynamo knows neither how it is made
    if state.x.norm() > 1:
        state.steps += 1                        nor how an attribute of it is set

Its class is written in C, with slots of its own for what `object` does.

Private: SideEffects.cls_supports_mutation_side_effects, UserDefinedClassVariable.supported_c_new_functions,
UserDefinedObjectVariable and SuperVariable.call_method, and how Dynamo tells which `__setattr__` is a plain one.
tests/capture/test_namespaces.py shows the errors without this, and fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import (
    SuperVariable,
    UserDefinedClassVariable,
    UserDefinedObjectVariable,
    UserFunctionVariable,
    user_defined,
)

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def namespaces() -> Iterator[None]:
    """While this is in force, they are."""
    writable = SideEffects.cls_supports_mutation_side_effects
    makers = UserDefinedClassVariable.supported_c_new_functions
    sets, deletes = user_defined.is_standard_setattr, user_defined.is_standard_delattr
    called, called_above = UserDefinedObjectVariable.call_method, SuperVariable.call_method

    def is_writable(cls: type) -> bool:
        return writable(cls) or _has(cls, "__getattribute__")

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "__init__" and _has(type(self.value), name):
            return _fill(tx, self, args, kwargs)
        return called(self, tx, name, args, kwargs)

    def call_above(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "__init__" and issubclass(self.objvar.python_type(), SimpleNamespace):
            if self._resolved_getattr_and_source(tx, name)[0] is SimpleNamespace.__init__:
                return _fill(tx, self.objvar, args, kwargs)
        return called_above(self, tx, name, args, kwargs)

    with (
        patched(SideEffects, cls_supports_mutation_side_effects=staticmethod(is_writable)),
        patched(
            UserDefinedClassVariable,
            supported_c_new_functions=staticmethod(lambda: makers() | {SimpleNamespace.__new__}),
        ),
        patched(
            user_defined,
            is_standard_setattr=lambda found: sets(found) or found is SimpleNamespace.__setattr__,
            is_standard_delattr=lambda found: deletes(found) or found is SimpleNamespace.__delattr__,
        ),
        patched(UserDefinedObjectVariable, call_method=call_method),
        patched(SuperVariable, call_method=call_above),
    ):
        yield


def _has(cls: type, name: str) -> bool:
    """Whether a class has a slot of SimpleNamespace as it is there."""
    return inspect.getattr_static(cls, name, None) is vars(SimpleNamespace).get(name)


def _fill(tx: Any, namespace: Any, args: Any, kwargs: Any) -> Any:
    filled: Any = _filled
    return UserFunctionVariable(filled).call_function(tx, [namespace, *args], kwargs)


def _filled(namespace: Any, /, *args: Any, **kwargs: Any) -> None:
    """What `SimpleNamespace.__init__` does: https://docs.python.org/3/library/types.html#types.SimpleNamespace."""
    if args and sys.version_info < (3, 13):
        raise TypeError("no positional arguments expected")
    for name, value in dict(*args, **kwargs).items():
        setattr(namespace, name, value)
