"""`del obj.name` runs a class's own `__delattr__` once, and raises for a slot that has no value.

    def __delattr__(self, name):             Dynamo follows this, and behind the graph it deletes the attribute as the
        self.gone[name] = self.__dict__[name]     text does: `__delattr__` runs again, on the object of before the call
        super().__delattr__(name)

    del node.tag                             of a slot that nothing has been put into: AttributeError

Private: SuperVariable.call_method, UserDefinedObjectVariable.method_setattr_standard.
tests/capture/test_deletions.py fails without this.
"""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Iterator
from typing import Any

from torch import nn
from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.variables import DeletedVariable, UserDefinedObjectVariable
from torch._dynamo.variables.misc import SuperVariable

from autograph_torch.capture.patching import patched

_DELETE = "__delattr__"


@contextlib.contextmanager
def deletions() -> Iterator[None]:
    """While this is in force, it does."""
    call, store = SuperVariable.call_method, UserDefinedObjectVariable.method_setattr_standard

    def call_super(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name != _DELETE or len(args) != 1 or not _deletes_itself(self.objvar):
            return call(self, tx, name, args, kwargs)
        found, _ = self._resolved_getattr_and_source(tx, name)
        if found is not object.__delattr__:
            return call(self, tx, name, args, kwargs)
        return self.objvar.method_setattr_standard(tx, args[0], DeletedVariable())

    def set_attribute(self: Any, tx: Any, name: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        text = name.as_python_constant()
        written = tx.output.side_effects.has_pending_mutation_of_attr(self, text)
        if isinstance(value, DeletedVariable) and not written and _is_slot(self.python_type(), text):
            if not self.call_obj_hasattr(tx, text).as_python_constant():
                raise_observed_exception(AttributeError, tx, args=[text])
        return store(self, tx, name, value, *args, **kwargs)

    changed: Any = {"method_setattr_standard": set_attribute}
    with patched(SuperVariable, call_method=call_super), patched(UserDefinedObjectVariable, **changed):
        yield


def _deletes_itself(variable: Any) -> bool:
    """Whether an object's class has a `__delattr__` of its own. (That of modules may run twice.)"""
    if not isinstance(variable, UserDefinedObjectVariable):
        return False
    own = inspect.getattr_static(variable.python_type(), _DELETE)
    return isinstance(own, types.FunctionType) and own is not nn.Module.__delattr__


def is_deleted(effects: Any, variable: Any, name: str) -> bool:
    """Whether the last that has been done to an attribute is to delete it."""
    return isinstance(effects.load_attr(variable, name, deleted_ok=True), DeletedVariable)


def _is_slot(kind: type, name: str) -> bool:
    return isinstance(inspect.getattr_static(kind, name, None), types.MemberDescriptorType)
