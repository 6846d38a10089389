"""Methods of tensors and containers that are values: what they are methods of, and their type.

    add = x.add_                an attribute of a tensor to Dynamo (torch 2.13), and `add.__self__` an attribute of
    add.__self__ is x           that, which is no tensor; here it is the tensor
    push = xs.append            a value of no known type, of which a branch could not be told that it is no list
    if p: push(x)

Private: GetAttrVariable, and its python_type.
tests/capture/test_bound_methods.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Iterator
from typing import Any

from torch._dynamo.exc import Unsupported
from torch._dynamo.variables.misc import GetAttrVariable

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.patching import method_of, patched

_BOUND: dict[type, type] = {  # what a class of C's has, and what its objects have of it
    types.MethodDescriptorType: types.BuiltinMethodType,
    types.WrapperDescriptorType: types.MethodWrapperType,
}


@contextlib.contextmanager
def bound_methods() -> Iterator[None]:
    """While this is in force, they are known."""
    get, type_of = method_of(GetAttrVariable, GET_ATTRIBUTE), GetAttrVariable.python_type

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        return self.obj if name == "__self__" and _type(self) is not None else get(self, tx, name)

    def python_type(self: Any) -> Any:
        return type_of(self) if self.py_type is not None else _type(self) or type_of(self)

    with patched(GetAttrVariable, **{GET_ATTRIBUTE: get_attribute, "python_type": python_type}):
        yield


def _type(attribute: Any) -> type | None:
    """The type of a method of C's with its object; None of anything else."""
    try:
        owner = attribute.obj.realize().python_type()
    except (Unsupported, NotImplementedError):
        return None
    return _BOUND.get(type(inspect.getattr_static(owner, attribute.name, None)))
