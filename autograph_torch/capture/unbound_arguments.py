"""Calls with arguments that do not fit raise Python's own TypeError, which handlers of the program may see.

    try: fn(*args)
    except TypeError as error:         add() missing 1 required positional argument: 'b'
        print(error)

Dynamo stops at such a call. The text is that of Python itself, of a call of a function with the same parameters that
does nothing.

Private: bind_args of the variables of functions. tests/capture/test_unbound_arguments.py fails clearly when torch
changes it.
"""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Iterable, Iterator
from typing import Any

from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.variables import UserFunctionVariable
from torch._dynamo.variables.functions import NestedUserFunctionVariable

from autograph_torch.capture.patching import patched
from autograph_torch.runtime.places import is_runtime

_STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


@contextlib.contextmanager
def unbound_arguments() -> Iterator[None]:
    """While this is in force, such calls raise."""
    bind, bind_nested = UserFunctionVariable.bind_args, NestedUserFunctionVariable.bind_args

    def bind_args(self: Any, parent: Any, args: Any, kwargs: Any) -> Any:
        try:
            return bind(self, parent, args, kwargs)
        except TypeError:
            if isinstance(self.fn, types.FunctionType):
                _raise(parent, _like(self.fn), args, kwargs)
            raise

    def bind_args_nested(self: Any, parent: Any, args: Any, kwargs: Any) -> Any:
        try:
            return bind_nested(self, parent, args, kwargs)
        except TypeError:
            if self.wrapped_fn is None:
                _raise(parent, _like_nested(self), args, kwargs)
            raise

    with (
        patched(UserFunctionVariable, bind_args=bind_args),
        patched(NestedUserFunctionVariable, bind_args=bind_args_nested),
    ):
        yield


def _raise(parent: Any, function: types.FunctionType, args: Any, kwargs: Any) -> None:
    """Raise in the trace what Python raises for the call, if it does; calls of the runtime are none of the program."""
    if is_runtime(function.__code__.co_filename) or not all(isinstance(key, str) for key in kwargs):
        return
    try:
        function(*args, **kwargs)
    except TypeError as error:
        text = str(error)
    else:
        return
    raise_observed_exception(TypeError, parent, args=[text])


def _like(function: types.FunctionType) -> types.FunctionType:
    given = function.__kwdefaults__ or ()
    return _made(function.__code__, function.__qualname__, len(function.__defaults__ or ()), given)


def _like_nested(function: Any) -> types.FunctionType:
    count = len(function.defaults.items) if function.defaults else 0
    named = function.kwdefaults.keys_as_python_constant() if function.kwdefaults else ()
    return _made(function.get_code(), function.fn_name.as_python_constant(), count, named)


def _made(code: types.CodeType, name: str, defaults: int, named: Iterable[str]) -> types.FunctionType:
    """A function that does nothing, with the parameters of another one."""
    count = code.co_argcount + code.co_kwonlyargcount + (code.co_flags & _STARS).bit_count()
    nothing = (lambda: None).__code__.replace(
        co_argcount=code.co_argcount,
        co_posonlyargcount=code.co_posonlyargcount,
        co_kwonlyargcount=code.co_kwonlyargcount,
        co_nlocals=count,
        co_varnames=code.co_varnames[:count],
        co_flags=inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS | (code.co_flags & _STARS),
        co_filename=code.co_filename,
    )
    made = types.FunctionType(nothing, {}, name.rpartition(".")[2], (None,) * defaults)
    made.__qualname__ = name
    made.__kwdefaults__ = dict.fromkeys(named)
    return made
