"""nn.Module instances and classes: converted copies that share parameters, buffers, hooks and submodules.

A converted instance has a class of its own, derived from the original one, whose `__call__` is converted code; what
the forward pass reaches below it is converted when it is traced. Nothing of the original instance or class changes.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.capture.compiled import Compiling, compiled_callable
from autograph_torch.codeobject import marked, new_function


def convert_module(
    model: torch.nn.Module,
    recursive: bool,
    how: Compiling | None,
    convert_function: Callable[[Any], Any],
) -> torch.nn.Module:
    """A module that shares everything with `model` and runs converted; compiled as `how` says, if it does.

    With `recursive`, whatever the call reaches is converted; without, `forward` alone, by `convert_function`.
    """
    original = type(model)
    if "_autograph_origin" in original.__dict__:
        model, original = _restored(model), original.__dict__["_autograph_origin"]
    new = copy.copy(model)
    new.__class__ = _converted_class(original, how, recursive, convert_function)
    return new


def _converted_class(
    original: type, how: Compiling | None, recursive: bool, convert_function: Callable[[Any], Any]
) -> type:
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        return original.__call__(self, *args, **kwargs)

    converted = new_function(run, marked(run.__code__, follow=recursive))

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if how is None or torch.compiler.is_compiling():
            return converted(self, *args, **kwargs)
        compiled = self.__dict__.get("_autograph_compiled")
        if compiled is None:
            compiled = self.__dict__["_autograph_compiled"] = compiled_callable(converted, run, how)
        return compiled(self, *args, **kwargs)

    call = new_function(__call__, marked(__call__.__code__, follow=recursive))

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return _rebuild, (_restored(self), recursive, how)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        return convert_module(copy.deepcopy(_restored(self), memo), recursive, how, convert_function)

    namespace = {
        "__call__": call,
        "__reduce_ex__": __reduce_ex__,
        "__deepcopy__": __deepcopy__,
        "__module__": original.__module__,
        "__qualname__": original.__qualname__,
        "__doc__": original.__doc__,
        "_autograph_origin": original,
    }
    if not recursive:
        namespace["forward"] = convert_function(getattr(original, "forward"))  # noqa: B009 (any class)
    return types.new_class(original.__name__, (original,), {}, lambda body: body.update(namespace))


def _restored(model: torch.nn.Module) -> torch.nn.Module:
    """The module as it was before conversion, sharing everything."""
    plain = torch.nn.Module.__new__(type(model)._autograph_origin)  # type: ignore[attr-defined]
    plain.__dict__.update({k: v for k, v in model.__dict__.items() if k != "_autograph_compiled"})
    return plain


def _rebuild(model: torch.nn.Module, recursive: bool, how: Compiling | None) -> torch.nn.Module:
    from autograph_torch.decorator import convert_one

    return convert_module(model, recursive, how, convert_one)


def convert_module_class(cls: type, convert_function: Callable[[Any], Any]) -> type:
    """A subclass whose entry point (`forward` of a module, else `__call__`) is converted. It takes the class's name."""
    name = "forward" if issubclass(cls, torch.nn.Module) else "__call__"
    entry = getattr(cls, name, None)
    if not isinstance(entry, types.FunctionType):
        raise TypeError(f"{cls.__qualname__} has no {name} method to convert")
    namespace = {
        name: convert_function(entry),
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
    }
    return types.new_class(cls.__name__, (cls,), {}, lambda body: body.update(namespace))
