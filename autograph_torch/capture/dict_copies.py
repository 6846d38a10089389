"""A dict that is made from or updated with another mapping takes its entries as Python's dicts do.

    settings = {**table}            table: of a class derived from dict, whose `__getitem__` or `items` computes
    step(x, **table)
    settings.update(table)
    dict(table), OrderedDict(table)

Python takes what such a table holds, and asks neither. One whose class has an `__iter__` of its own, and any other
object with `keys`, it asks for `keys()` and then for each item; so does an OrderedDict ask all but plain dicts
(`dict_merge` in dictobject.c, `mutablemapping_update` in odictobject.c). Dynamo (torch 2.13) asks for items where
it updates, and for `items()` where it makes one.

Private: ConstDictVariable.call_method, DictBuiltinVariable.call_custom_dict, `_base_vt` (torch 2.11 has neither of
these, and stays as it is).
tests/capture/test_dict_copies.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from torch._dynamo import variables
from torch._dynamo.variables import ConstDictVariable, UserDefinedObjectVariable

from autograph_torch.capture.patching import method_of, patched


@contextlib.contextmanager
def dict_copies() -> Iterator[None]:
    """While this is in force, it does."""
    maker: Any = getattr(variables, "DictBuiltinVariable", None)
    if maker is None:  # torch 2.11, whose `update` makes a dict of another mapping first
        yield
        return
    original = method_of(ConstDictVariable, "call_method")
    make = maker.call_custom_dict

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "__init__" and _is_mapping(tx, args):
            return call_method(self, tx, "update", args, kwargs)
        if name == "update" and len(args) == 1:
            args = [_entries(args[0].realize(), self.user_cls)]
        return original(self, tx, name, args, kwargs)

    def call_custom_dict(tx: Any, user_cls: type, /, *args: Any, **kwargs: Any) -> Any:
        if user_cls is not dict or not _is_mapping(tx, args):
            return make(tx, user_cls, *args, **kwargs)
        result = make(tx, dict)
        result.call_method(tx, "update", list(args), kwargs)
        return result

    with (
        patched(ConstDictVariable, call_method=call_method),
        patched(maker, call_custom_dict=staticmethod(call_custom_dict)),
    ):
        yield


def _is_mapping(tx: Any, args: Any) -> bool:
    """Is the one argument an object that has `keys`, which is what Python looks for?"""
    if len(args) != 1 or not isinstance(args[0].realize(), UserDefinedObjectVariable):
        return False
    return bool(args[0].realize().call_obj_hasattr(tx, "keys").as_python_constant())


def _entries(variable: Any, into: type) -> Any:
    """The dict in an object of a class that is derived from it, where the class `into` takes that."""
    contents = getattr(variable, "_base_vt", None)
    if not isinstance(variable, UserDefinedObjectVariable) or not isinstance(contents, ConstDictVariable):
        return variable
    kind: Any = type(variable.value)
    if issubclass(into, OrderedDict):
        taken = kind.__getitem__ is dict.__getitem__ and kind.keys in (dict.keys, OrderedDict.keys)
    else:
        taken = kind.__iter__ is dict.__iter__
    return contents if taken else variable
