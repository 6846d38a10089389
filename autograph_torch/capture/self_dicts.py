"""A dict that is the dict of its own attributes has them as its items, and its items as attributes.

    class Config(dict):
        def __init__(self, **given):
            super().__init__(**given)
            self.__dict__ = self

    config.rate = 2; config["rate"]      Dynamo keeps the two apart, and gives what was there before

Private: UserDefinedObjectVariable.method_setattr_standard and its attributes, UserDefinedDictVariable.
tests/capture/test_self_dicts.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import (
    ConstantVariable,
    DeletedVariable,
    UserDefinedDictVariable,
    UserDefinedObjectVariable,
)
from torch._dynamo.variables.base import AttributeMutationNew

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.instance_dicts import is_in_dict
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import raise_refusal


@contextlib.contextmanager
def self_dicts() -> Iterator[None]:
    """While this is in force, it does."""
    store: Any = UserDefinedObjectVariable.method_setattr_standard
    look_up: Any = getattr(UserDefinedObjectVariable, GET_ATTRIBUTE)

    def set_attribute(self: Any, tx: Any, name: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        text = name.as_python_constant()
        if text == "__dict__" and not isinstance(value, DeletedVariable):
            _replace(self, tx, value.realize())
        elif not _has_as_item(self, text):
            return store(self, tx, name, value, *args, **kwargs)
        elif not isinstance(value, DeletedVariable):
            return tracing.inner_of(self).call_method(tx, "__setitem__", [name, value], {})
        elif _contains(self, tx, name):
            return tracing.inner_of(self).call_method(tx, "__delitem__", [name], {})
        return store(self, tx, name, value, *args, **kwargs)

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        if name == "__dict__" and _is_own(self):
            return self
        if _has_as_item(self, name) and _contains(self, tx, ConstantVariable.create(name)):
            return tracing.inner_of(self).call_method(tx, "__getitem__", [ConstantVariable.create(name)], {})
        return look_up(self, tx, name)

    with patched(UserDefinedObjectVariable, method_setattr_standard=set_attribute, **{GET_ATTRIBUTE: get_attribute}):
        yield


def _replace(variable: Any, tx: Any, items: Any) -> None:
    """`variable.__dict__ = items`: what the trace has met stands for the object from here on."""
    attributes = tx.output.side_effects.store_attr_mutations.get(variable)
    if items is not variable or attributes or not isinstance(variable.mutation_type, AttributeMutationNew):
        message = "an object is given another dict for its attributes"
        raise_refusal("AG320", message, "set the attributes one by one, or call `vars(obj).update(...)`")
    variable.value.__dict__ = variable.value


def _is_own(variable: Any) -> bool:
    """Whether an object is the dict of its attributes."""
    return isinstance(variable, UserDefinedDictVariable) and getattr(variable.value, "__dict__", None) is variable.value


def _has_as_item(variable: Any, name: str) -> bool:
    return _is_own(variable) and is_in_dict(variable.value, name)


def _contains(variable: Any, tx: Any, name: Any) -> bool:
    return bool(tracing.inner_of(variable).call_method(tx, "__contains__", [name], {}).as_python_constant())
