"""A dict that is updated with another one takes its entries, whatever its class has for `__getitem__`.

    settings = {**table}            table: of a class derived from dict, whose `__getitem__` computes
    step(x, **table)
    settings.update(table)

Dynamo (torch 2.13) asks it as it asks any other mapping. Python does only where the class has an `__iter__` of its own
(`dict_merge` in dictobject.c).

Private: ConstDictVariable.call_method, `_base_vt` (torch 2.11 has none).
tests/capture/test_dict_copies.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import ConstDictVariable, UserDefinedObjectVariable

from autograph_torch.capture.patching import method_of, patched


@contextlib.contextmanager
def dict_copies() -> Iterator[None]:
    """While this is in force, it does."""
    original = method_of(ConstDictVariable, "call_method")

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "update" and len(args) == 1:
            args = [_entries(args[0].realize())]
        return original(self, tx, name, args, kwargs)

    with patched(ConstDictVariable, call_method=call_method):
        yield


def _entries(variable: Any) -> Any:
    """The dict in an object of a class that is derived from it."""
    contents = getattr(variable, "_base_vt", None)
    if not isinstance(variable, UserDefinedObjectVariable) or not isinstance(contents, ConstDictVariable):
        return variable
    kind: Any = type(variable.value)
    return contents if kind.__iter__ is dict.__iter__ else variable
