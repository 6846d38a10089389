"""Tuples of classes of their own, put together again of what is in them.

    class Angle(namedtuple("Angle", "degrees")):
        def __new__(cls, degrees): return super().__new__(cls, degrees % 360)

A `__new__` or `__init__` of the program's has run where the tuple was made. The copy asks neither: like `_make` and
`_replace`, it gets the elements as they are, of whatever number, and what it has of attributes.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import torch

_NAMED: Any = namedtuple("_NAMED", "element")
_NOTHING: Any = vars(object)["__init__"]
FIELD = type(_NAMED.element)  # what reads an element by its name


def is_of_torch(kind: type) -> bool:
    """Whether it is a type of results of torch: what `x.sort()` gives."""
    return kind.__module__ == "torch.return_types"


def is_plainly_named(kind: Any) -> bool:
    """Whether calling a class of tuples with the elements gives one with these elements, and does nothing else."""
    globals_of_new = getattr(kind.__new__, "__globals__", {})  # `namedtuple` writes each class a `__new__`
    makes_only = globals_of_new.get("__name__", "").startswith("namedtuple_") and kind.__init__ is _NOTHING
    return makes_only and type(kind) is type


def shows_elements(method: Any) -> bool:
    """Whether a method is the `__repr__` that `namedtuple` gives its classes."""
    return getattr(method, "__code__", None) is _NAMED.__repr__.__code__


def tuple_of(kind: Any, elements: Any) -> Any:
    """A tuple of a class with these elements."""
    if kind is torch.Size or is_of_torch(kind):
        return kind(elements)
    return tuple.__new__(kind, elements)
