"""nn.Module instances and classes: converted copies that share parameters, buffers, hooks and submodules.

A converted instance has a class of its own, derived from the original one, whose `__call__` is converted code; what
the forward pass reaches below it is converted when it is traced. Nothing of the original instance or class changes.

    self.step = self._step          an attribute that leads back to the module
    self.act = lambda x: x * self.scale

In the copy such methods, functions and containers lead to the copy: it is there that the forward pass sets attributes.
"""

from __future__ import annotations

import copy
import functools
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import torch

from autograph_torch.capture.compiled import Compiling, compiled_callable
from autograph_torch.codeobject import marked, new_function
from autograph_torch.live import is_filled

_DEPTH = 8  # a container may be in itself
_SHARED = ("_parameters", "_buffers", "_modules")  # both have the very same


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
    _lead_back(new, model)
    return new


def _lead_back(new: torch.nn.Module, old: torch.nn.Module) -> None:
    """Let the attributes and hooks of a copy that lead to what it was copied from lead to itself."""
    for name, value in list(new.__dict__.items()):
        if name not in _SHARED and (led := _led(value, old, new)) is not value:
            new.__dict__[name] = led


def _led(value: Any, old: Any, new: Any, depth: int = 0) -> Any:
    """The same value, with `new` for `old`; itself where there is none in it."""
    if depth > _DEPTH:
        return value
    if value is old:
        return new
    if isinstance(value, types.MethodType):
        return types.MethodType(value.__func__, new) if value.__self__ is old else value
    if isinstance(value, types.FunctionType):
        return _led_function(value, old, new)
    if type(value) is functools.partial:
        inner = (value.func, value.args, value.keywords)
        led = tuple(_led(part, old, new, depth + 1) for part in inner)
        return functools.partial(led[0], *led[1], **led[2]) if _differ(led, inner) else value
    if type(value) in (list, tuple):
        items = [_led(item, old, new, depth + 1) for item in value]
        return type(value)(items) if _differ(items, value) else value
    if type(value) in (dict, OrderedDict):
        items = [_led(item, old, new, depth + 1) for item in value.values()]
        return type(value)(zip(value, items, strict=True)) if _differ(items, value.values()) else value
    return value


def _led_function(function: types.FunctionType, old: Any, new: Any) -> types.FunctionType:
    cells = function.__closure__ or ()
    if not any(is_filled(cell) and cell.cell_contents is old for cell in cells):
        return function
    closure = tuple(types.CellType(new) if is_filled(cell) and cell.cell_contents is old else cell for cell in cells)
    led = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, closure)
    led.__kwdefaults__ = function.__kwdefaults__
    led.__qualname__, led.__doc__, led.__module__ = function.__qualname__, function.__doc__, function.__module__
    led.__dict__.update(function.__dict__)
    return led


def _differ(new: Iterable[Any], old: Iterable[Any]) -> bool:
    return any(one is not other for one, other in zip(new, old, strict=True))


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
    _lead_back(plain, model)
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
