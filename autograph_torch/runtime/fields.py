"""Attributes of objects, and `nonlocal` variables, that a body writes to: results or carries, too.

    def step(self): self.t = self.t + self.dt          reached from a branch or loop

As with tensors (outside.py), the first trace of a body tells which fields it writes to. What a body does to them, the
tracer forgets behind it; so the body hands out what is in them at its end, and it is written behind the operator.

An attribute that one of the branches leaves unset, or deletes, is picked behind the graph (picking.py).

The empty functions are filled in by the tracer when it reaches them (capture/field_writes.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

import torch

# What is read where there is nothing: no attribute of the object's own, though its class may have one.
MISSING = "(no such attribute)"
_OF_MODULES = ("_parameters", "_buffers", "_modules")


def read_field(site: str, index: int, found: Any = MISSING) -> Any:
    """What is in a field now. (Filled in by the tracer.)"""
    return found


def write_field(site: str, index: int, value: Any) -> None:
    """Set a field. (Done by the tracer.)"""


def read_fields(site: str, count: int) -> tuple[Any, ...]:
    """What is in the fields of a site now."""
    return tuple(read_field(site, index) for index in range(count))


def write_fields(site: str, values: tuple[Any, ...]) -> None:
    """Set the fields of a site."""
    for index in range(len(values)):
        write_field(site, index, values[index])


def is_own(target: Any, name: str, found: bool = True) -> bool:
    """Whether an attribute is the object's own: not that of its class alone. (Filled in by the tracer.)"""
    return found


def is_computed(target: Any, name: str, written: bool, found: bool = False) -> bool:
    """Whether code of the class, a property or other, runs in its place, or may touch it. (Filled in by the tracer.)

    `written`: what has stood for it is now written back, so others must not have used it meanwhile.
    """
    return found


def is_answered(target: Any, name: str, found: bool | None = None) -> bool:
    """Whether it is a `__getattr__` of the program's that would give an attribute. (Filled in by the tracer.)"""
    return would_answer(target, name) if found is None else found


def would_answer(target: Any, name: str) -> bool:
    """As `is_answered`, where an object is at hand. What is registered with a module is an attribute of its own."""
    own = getattr(target, "__dict__", {})
    of_module = isinstance(target, torch.nn.Module) and any(name in own.get(part, ()) for part in _OF_MODULES)
    return not of_module and is_left_to_getattr(target, name)


def is_left_to_getattr(target: Any, name: str) -> bool:
    """Whether neither an object nor its classes have an attribute, and one has a `__getattr__` that is asked for it."""
    classes = type(target).__mro__
    if not any("__getattr__" in vars(one) for one in classes if one is not torch.nn.Module):
        return False
    return name not in getattr(target, "__dict__", {}) and not any(name in vars(one) for one in classes)


def set_or_remove(target: Any, name: str, value: Any) -> None:
    """What runs behind the graph, where data decide whether there is an attribute."""
    if not isinstance(value, str) or value != MISSING:
        _past_methods(target, "__setattr__")(target, name, value)
        return
    with contextlib.suppress(AttributeError):  # it was not there before either
        _past_methods(target, "__delattr__")(target, name)


def put_last(target: Any, names: tuple[str, ...]) -> None:
    """What runs behind the graph, so that attributes that it has set come in this order, behind all others."""
    own = vars(target)
    for name in names:
        if name in own and isinstance(target, type):
            value = own[name]
            type.__delattr__(target, name)
            type.__setattr__(target, name, value)
        elif name in own:
            own[name] = own.pop(name)


def _past_methods(target: Any, method: str) -> Callable[..., None]:
    """What sets or deletes an attribute; a method of the program's own has run in the trace."""
    found: Callable[..., None] = getattr(type(target), method)
    base = next(kind for kind in (torch.nn.Module, type, object) if isinstance(target, kind))
    return getattr(base, method) if isinstance(found, FunctionType) else found
