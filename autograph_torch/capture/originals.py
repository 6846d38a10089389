"""From what `autograph` gave back to what the user wrote."""

from __future__ import annotations

import functools
import types
from typing import Any

import torch

from autograph_torch.runtime.tracing import is_ours

ORIGINAL = "_autograph_module"  # of the class of a converted module: the module that it was made of


def original_of(target: Any) -> Any:
    """The function, method, module or callable object below what `autograph` made of it; itself when nothing did.

    A function that `convert` gave back counts as an original: it no longer knows what it was made of.
    """
    if isinstance(target, torch.nn.Module):
        return _original_module(target)
    if isinstance(target, types.MethodType):
        return types.MethodType(original_of(target.__func__), target.__self__)
    if isinstance(target, functools.partial):
        return functools.partial(original_of(target.func), *target.args, **target.keywords)
    return target.__wrapped__ if _is_wrapper(target) else target


def entry_function(target: Any) -> types.FunctionType | None:
    """The function of the user's that runs first when `target` is called; None when it has no Python code."""
    if isinstance(target, torch.nn.Module):
        return entry_function(type(target).forward)
    if isinstance(target, types.FunctionType):
        return target
    inner = target.func if isinstance(target, functools.partial) else getattr(target, "__func__", None)
    if inner is not None:
        return entry_function(inner)
    found = (vars(cls).get("__call__") for cls in type(target).__mro__)
    return next((call for call in found if isinstance(call, types.FunctionType)), None)


def _original_module(model: torch.nn.Module) -> torch.nn.Module:
    cls = type(model)
    if ORIGINAL in cls.__dict__:
        return cls.__dict__[ORIGINAL]  # type: ignore[no-any-return]
    if not _is_wrapper(cls.__dict__.get("forward")):
        return model
    plain: torch.nn.Module = object.__new__(cls.__bases__[0])  # `autograph` on the class made a subclass of it
    plain.__dict__.update(model.__dict__)
    return plain


def _is_wrapper(value: Any) -> bool:
    """Whether this package made a function around another (attributes tell nothing: `functools.wraps` copies them)."""
    return (
        isinstance(value, types.FunctionType) and hasattr(value, "__wrapped__") and is_ours(value.__code__.co_filename)
    )
