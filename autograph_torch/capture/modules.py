"""nn.Module instances and classes that run converted.

    fast = autograph(model)
    model.eval(); fast.scale = 2.0          both are in evaluation mode, both have the scale
    fast(x)                                 model.__call__(x), converted

What `autograph` makes of an instance has the instance's very `__dict__`, and a class of its own, derived from the
instance's, whose `__call__` is converted code that calls the original: `self` is the original in there, so what leads
to it from its submodules, closures and hooks leads to the right object. What the forward pass reaches is converted when
it is traced. Neither the instance nor its class changes. For the tracer both are one object (capture/module_faces.py).
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.capture.compiled import Compiling, compiled_callable
from autograph_torch.capture.originals import ORIGINAL, entry_function, original_of
from autograph_torch.codeobject import marked, named_for, new_function


def convert_module(model: torch.nn.Module, recursive: bool, how: Compiling | None) -> torch.nn.Module:
    """A module that shares everything with `model` and runs converted; compiled as `how` says, if it does.

    With `recursive`, whatever the call reaches is converted; without, `forward` alone.
    """
    if ORIGINAL in vars(type(model)):
        model = original_of(model)
    new: torch.nn.Module = object.__new__(_converted_class(model, recursive, how))
    object.__setattr__(new, "__dict__", model.__dict__)
    return new


def _converted_class(model: torch.nn.Module, recursive: bool, how: Compiling | None) -> type:
    original = type(model)
    forward = entry_function(model)
    follow = recursive or (forward.__code__ if forward is not None else False)

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        return original.__call__(self, *args, **kwargs)

    converted = new_function(run, named_for(marked(run.__code__, follow), original))
    compiled = None if how is None else functools.cache(functools.partial(compiled_callable, converted, run, how))

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        module = model if type(self) is cls else self  # torch makes classes of it (register_parametrization)
        if compiled is None or torch.compiler.is_compiling():
            return converted(module, *args, **kwargs)
        return compiled()(module, *args, **kwargs)

    def again(module: torch.nn.Module) -> torch.nn.Module:
        return convert_module(module, recursive, how)

    namespace = {
        **{name: _led_on(name) for name in _slots_of(original)},
        "__call__": new_function(__call__, named_for(marked(__call__.__code__, follow), original)),
        "__reduce_ex__": lambda self, protocol: (convert_module, (model, recursive, how)),
        "__copy__": lambda self: again(copy.copy(model)),
        "__deepcopy__": lambda self, memo: again(copy.deepcopy(model, memo)),
        "_replicate_for_data_parallel": lambda self: again(model._replicate_for_data_parallel()),
        "__module__": original.__module__,
        "__qualname__": original.__qualname__,
        "__doc__": original.__doc__,
        ORIGINAL: model,
    }
    cls = types.new_class(original.__name__, (original,), {}, lambda body: body.update(namespace))
    return cls


def _slots_of(cls: type) -> list[str]:
    """Attributes that lie in no `__dict__`."""
    members = (member for base in cls.__mro__ for member in vars(base).values())
    return [member.__name__ for member in members if isinstance(member, types.MemberDescriptorType)]


def _led_on(name: str) -> property:
    """An attribute that is the original's."""
    return property(
        lambda self: getattr(original_of(self), name),
        lambda self, value: setattr(original_of(self), name, value),
        lambda self: delattr(original_of(self), name),
    )


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
