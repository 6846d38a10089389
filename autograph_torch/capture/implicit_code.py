"""Code of a class that runs where the text shows no call: properties, `__enter__`, `__iter__`, `__add__`, ...

    if x.sum() > 0:             `self_n` would stand for the attribute in both branches (passes/attributes.py):
        self.n += 1             the property would read what it was before
        y = x + self.more

Such code is read with all methods of the class that it names; an attribute is taken to be touched where it is named.
What dataclasses write (`__eq__`, `__repr__`) is left out: it names all attributes, and runs where the object stands
alone in the text, which the pass looks for.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

_EXPLICIT = frozenset(("__init__", "__new__", "__call__", "__init_subclass__", "__class_getitem__"))

_WRITTEN_BY_PYTHON = ("<string>",)  # dataclasses and namedtuples


def touches(kind: type, attribute: str) -> bool:
    """Whether code of a class that runs without a call in the text names an attribute."""
    return attribute in _named(kind)


@functools.lru_cache(maxsize=256)
def _named(kind: type) -> frozenset[str]:
    """The names in such code, and in the methods that it may call."""
    own = [vars(one) for one in kind.__mro__ if one is not object and one.__module__.partition(".")[0] != "torch"]
    waiting = [code for names in own for name, value in names.items() for code in _run_unseen(name, value)]
    found: set[str] = set()
    while waiting:
        new = set(_names_in(waiting.pop())) - found
        found |= new
        methods = [names[name] for names in own for name in new if name in names]
        waiting += [one.__code__ for one in methods if isinstance(one, types.FunctionType)]
    return frozenset(found)


def _run_unseen(name: str, value: Any) -> Iterator[types.CodeType]:
    """What a class has under a name, if it runs without a call."""
    parts: tuple[Any, ...] = ()
    if isinstance(value, property):
        parts = (value.fget, value.fset, value.fdel)
    elif isinstance(value, functools.cached_property):
        parts = (value.func,)
    elif name.startswith("__") and name.endswith("__") and name not in _EXPLICIT:
        parts = (value,)
    codes = [one.__code__ for one in parts if isinstance(one, types.FunctionType)]
    yield from (code for code in codes if code.co_filename not in _WRITTEN_BY_PYTHON)


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _names_in(one)
