"""`copy.copy` and `copy.deepcopy` of objects copy all that there is of them.

    best = copy.deepcopy(model.state_dict())        an OrderedDict
    copy.copy(Counter("aab"))

What an object is to be made of again, `__reduce_ex__` tells `copy`. Dynamo's answer (torch 2.13) has the `__dict__` of
an object and nothing else: the copy of an OrderedDict, and of any class derived from dict, list or tuple, was empty,
and `__reduce__`, `__getstate__` and `__slots__` were not asked. (torch 2.11 has no answer, and refuses.)

Source: object.__reduce_ex__ (Objects/typeobject.c) and PEP 307. Private: torch._dynamo.polyfills.copy.
"""

from __future__ import annotations

import collections
import copyreg
import inspect
import sys
import types
from typing import Any

import torch

from autograph_torch.capture.known_torch import is_before
from autograph_torch.runtime.refusal import refuse


def _reduce(obj: Any, protocol: int) -> Any:
    from autograph_torch.capture.reduced import parts_of  # it runs with the globals of torch's

    return parts_of(obj)


def parts_of(obj: Any) -> Any:
    """`object.__reduce_ex__(obj, 4)`, as Python code."""
    cls = type(obj)
    way = _way_of(cls)
    if way == "python":
        return obj.__reduce__()
    if way == "unknown":
        refuse("AG320", f"a copy of an object of type {cls.__name__}", "copy it before")
    state = _state(obj, cls)
    if way == "ordered":
        return cls, (), state, None, iter(obj.items())
    if way == "default":
        return cls, (obj.default_factory,), state, None, iter(obj.items())
    if way == "deque":
        return cls, ((), obj.maxlen), state, iter(obj)
    if way == "set":
        return cls, (list(obj),), state
    if way == "named":
        return cls._make, (tuple(obj),), state
    items = iter(obj) if isinstance(obj, list) else None
    pairs = iter(obj.items()) if isinstance(obj, dict) else None
    if way == "named arguments":
        args, kwargs = obj.__getnewargs_ex__()
        return _NEW_OBJECT_EX, (cls, args, kwargs), state, items, pairs
    args = obj.__getnewargs__() if way == "arguments" else ((_value_of(obj),) if way == "value" else ())
    return _NEW_OBJECT, (cls, *args), state, items, pairs


def _state(obj: Any, cls: type) -> Any:
    if _has_state_of_its_own(cls):
        return obj.__getstate__()
    state = obj.__dict__ if _has_dict(cls) else None
    if not state and _NO_EMPTY_STATE:
        state = None
    slots = {name: getattr(obj, name) for name in _slots_of(cls).split() if hasattr(obj, name)}
    return (state, slots) if slots else state


def _value_of(obj: Any) -> Any:
    bases: tuple[Any, ...] = _VALUES
    for base in bases:
        if isinstance(obj, base):
            return base(obj)
    return obj


_NO_EMPTY_STATE = sys.version_info >= (3, 11)
_VALUES = (tuple, int, float, complex, str, bytes)
_NEW_OBJECT: Any = copyreg.__newobj__  # type: ignore[attr-defined]
_NEW_OBJECT_EX: Any = copyreg.__newobj_ex__  # type: ignore[attr-defined]


# What the tracer asks of a class, and is told as a constant.


@torch.compiler.assume_constant_result
def _way_of(cls: type) -> str:
    """How an object of a class is taken apart."""
    first = next(base for base in cls.__mro__ if "__reduce__" in vars(base))
    if isinstance(vars(first)["__reduce__"], types.FunctionType):
        return "python"
    if issubclass(cls, tuple) and hasattr(cls, "_make"):
        return "named"
    if first is not object:
        return _WAYS.get(first, "unknown")
    if hasattr(cls, "__getnewargs_ex__"):
        return "named arguments"
    if isinstance(getattr(cls, "__getnewargs__", None), types.FunctionType):
        return "arguments"
    return "value" if issubclass(cls, _VALUES) else "object"


@torch.compiler.assume_constant_result
def _has_state_of_its_own(cls: type) -> bool:
    first = next((base for base in cls.__mro__ if "__getstate__" in vars(base)), object)
    return isinstance(vars(first).get("__getstate__"), types.FunctionType)


@torch.compiler.assume_constant_result
def _has_dict(cls: type) -> bool:
    return cls.__dictoffset__ != 0


@torch.compiler.assume_constant_result
def _slots_of(cls: type) -> str:
    return " ".join(copyreg._slotnames(cls))  # type: ignore[attr-defined]


_WAYS: dict[type, str] = {
    collections.OrderedDict: "ordered",
    collections.defaultdict: "default",
    collections.deque: "deque",
    set: "set",
    frozenset: "set",
    types.SimpleNamespace: "object",
}

REDUCED: dict[types.CodeType, types.CodeType] = {}
if not is_before(2, 13):
    from torch._dynamo.polyfills.copy import reduce_ex_user_defined_object

    REDUCED[inspect.unwrap(reduce_ex_user_defined_object).__code__] = _reduce.__code__
