"""What a function sets on a class is what its subclasses and objects have from then on.

    Run.count += 1
    return Sweep.count, run.count       of a class that is derived from Run, and of an object

Dynamo looks at the class itself only for what has been set; everything else had the value of before, in plain
torch.compile, too (torch 2.13).

Private: the attributes of UserDefinedClassVariable and UserDefinedObjectVariable, and the table of side effects.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import ConstantVariable, UserDefinedClassVariable
from torch._dynamo.variables.user_defined import UserDefinedObjectVariable

from autograph_torch.capture.deletions import is_deleted
from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.refusal import raise_refusal


@contextlib.contextmanager
def class_attributes() -> Iterator[None]:
    """While this is in force, they have it."""
    with _set_on(UserDefinedClassVariable), _set_on(UserDefinedObjectVariable):
        yield


@contextlib.contextmanager
def _set_on(kind: Any) -> Iterator[None]:
    look_up, has = getattr(kind, GET_ATTRIBUTE), kind.call_obj_hasattr

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        found = _inherited(self, tx, name)
        return look_up(self, tx, name) if found is None else found

    def call_obj_hasattr(self: Any, tx: Any, name: str) -> Any:
        return has(self, tx, name) if _inherited(self, tx, name) is None else ConstantVariable.create(True)

    changed: Any = {GET_ATTRIBUTE: get_attribute, "call_obj_hasattr": call_obj_hasattr}
    with patched(kind, **changed):
        yield


def _inherited(variable: Any, tx: Any, name: str) -> Any:
    """What the call under way has set on a class that a class or an object has its attribute from; None: nothing."""
    effects = tx.output.side_effects
    is_class = isinstance(variable, UserDefinedClassVariable)
    if not is_class and _is_own(variable, effects, name):
        return None
    for base in (variable.value if is_class else type(variable.value)).__mro__:
        written = effects.id_to_variable.get(id(base))
        if written is not None and effects.has_pending_mutation_of_attr(written, name):
            found = effects.load_attr(written, name)
            return found if is_class else _of_an_object(found, name)
        if name in vars(base):
            return None
    return None


def _is_own(variable: Any, effects: Any, name: str) -> bool:
    """Whether an object has an attribute of its own."""
    if effects.is_attribute_mutation(variable) and effects.has_pending_mutation_of_attr(variable, name):
        return not is_deleted(effects, variable, name)
    return name in getattr(variable.value, "__dict__", ())


def _of_an_object(found: Any, name: str) -> Any:
    """What an object has by its class; a function would have to become its method."""
    found = found.realize()
    if hasattr(found.python_type(), "__get__"):
        message = f"the method or property `{name}` is set on a class and used in the same call"
        raise_refusal("AG320", message, "set it before the call")
    return found
