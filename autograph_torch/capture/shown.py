"""Objects that the program shows: their text is made when the graph has run, by their own `__repr__` or `__str__`.

    raise ValueError(f"the parameters of {self} are not positive")

The object is taken apart into its attributes, as they are when it is shown, and the text is made of one that has them.

Private: UserDefinedObjectVariable and the table of side effects. tests/capture/test_shown.py fails clearly when torch
changes what this leans on.
"""

from __future__ import annotations

import logging
import types
from typing import Any

import torch
from torch._dynamo import variables
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.source import AttrSource


def attributes_of_shown(parent: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Fill in the attributes of an object that is its attributes, and whose class makes text of them in Python."""
    item = given["value"]
    item = item.realize()
    if not isinstance(item, variables.UserDefinedObjectVariable) or not _has_own_text(item.python_type()):
        return {}
    if item.source is not None and not isinstance(item.python_type().__repr__, types.FunctionType):
        return {}  # a copy of the caller's object has another address
    # By name: what a program has set last, it shows; what it has deleted, it does not.
    names = dict.fromkeys(vars(item.value) if item.source is not None else ())
    if item.source is not None:  # attributes that are read have guards of their own; none is to be added
        install_guard(AttrSource(item.source, "__dict__").make_guard(GuardBuilder.SEQUENCE_LENGTH))
    written = parent.output.side_effects.store_attr_mutations.get(item, {})
    for name, value in written.items():
        names[name] = None
        if isinstance(value, variables.DeletedVariable):
            del names[name]
    found = [variables.ConstantVariable.create(name) for name in names]
    return {"found": variables.TupleVariable(found)}


def _has_own_text(kind: type) -> bool:
    """Whether the text of an object of a class is made by Python code of attributes that are in its `__dict__`."""
    if issubclass(kind, (torch.nn.Module, logging.Logger, logging.LoggerAdapter)):
        return False  # they show constants, and may hold very much
    methods = (kind.__repr__, kind.__str__, kind.__format__)
    if not any(isinstance(method, types.FunctionType) for method in methods):
        return False
    slots = any(getattr(one, "__slots__", ()) for one in kind.__mro__)
    try:
        return not slots and isinstance(vars(object.__new__(kind)), dict)
    except TypeError:  # a class that is more than its attributes: a list, an exception
        return False
