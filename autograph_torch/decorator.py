"""The faces of the package: autograph, convert, to_source, do_not_convert."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, overload

import torch

from autograph_torch.capture import inlining, policy
from autograph_torch.capture.compiled import Compiling, compiled_callable
from autograph_torch.capture.modules import convert_module, convert_module_class
from autograph_torch.codeobject import marked, named_for, new_function, origin_of, with_origin
from autograph_torch.diagnostics import ConversionError, Diagnostic
from autograph_torch.live import Conversion, convert_code, names_in_reach
from autograph_torch.runtime.performing import MODES, Mode, Settings

F = TypeVar("F", bound=Callable[..., Any])


@overload
def autograph(target: F, /, **options: Any) -> F: ...
@overload
def autograph(target: None = None, /, **options: Any) -> Callable[[F], F]: ...
def autograph(
    target: Any = None,
    /,
    *,
    compile: bool = True,
    recursive: bool = True,
    fallback: str | None = None,
    effects: Mode | Sequence[Callable[..., Any]] = "deferred",
    **compile_options: Any,
) -> Any:
    """Convert a function, method, nn.Module or class, and compile it with `torch.compile(fullgraph=True)`.

    Args:
        target: a function or anything callable; an nn.Module instance, submodules included; or a class.
        compile: False gives what `convert` gives.
        recursive: convert the functions that are called from it, too.
        fallback: "graph_break" compiles what cannot become one graph in parts, with a warning that names the line;
            by default it is an error.
        effects: "deferred" plays what is printed, logged and warned when the graph has returned, "immediate" as it
            runs, "drop" not at all. Or further functions that are called for their effect, which are deferred, too.
        compile_options: keywords of torch.compile: backend, mode, dynamic, options.

    Returns:
        The converted target. A module stays an nn.Module with the same parameters, hooks and state_dict keys.

    Raises:
        SourceError: AG302, the source of a function cannot be found.
        CaptureError: at the first call, when the program cannot become one graph.

    Warns:
        OnePathWarning: at the first call, when the graph is for calls whose data take the same path only.
    """
    if fallback not in (None, "graph_break"):
        raise ValueError(f'fallback can be None or "graph_break", not {fallback!r}')
    if target is None:
        return functools.partial(
            autograph, compile=compile, recursive=recursive, fallback=fallback, effects=effects, **compile_options
        )
    if not compile:
        return convert(target, recursive=recursive)
    inlining.install(required=recursive or isinstance(target, torch.nn.Module))
    again = functools.partial(autograph, recursive=recursive, fallback=fallback, effects=effects, **compile_options)
    if isinstance(target, type):
        return convert_module_class(target, again)
    how = Compiling(compile_options, replace(_settings(effects), one_path=fallback is None), fallback)
    if isinstance(target, torch.nn.Module):
        return convert_module(target, recursive, how)
    if isinstance(target, (staticmethod, classmethod)):
        return type(target)(again(target.__func__))
    converted = convert(target, recursive=recursive, refuse_builtins=True, effects=how.effects.names)
    return compiled_callable(converted, target, how)


def _settings(effects: Mode | Sequence[Callable[..., Any]]) -> Settings:
    if not isinstance(effects, str):
        return Settings(functions=tuple(effects))
    if effects not in MODES:
        raise ValueError(f"effects must be one of {', '.join(MODES)}, or a list of functions; got {effects!r}")
    return Settings(effects)


def convert(
    target: Any, /, *, recursive: bool = True, refuse_builtins: bool = False, effects: frozenset[str] = frozenset()
) -> Any:
    """The rewritten function, not compiled: run as it is, it does what the original does.

    Args:
        target: as for `autograph`.
        recursive: when it is traced, also convert the functions that it calls.
        refuse_builtins: raise for a built-in function instead of giving it back.
        effects: last names of further functions that are called for their effect, which `autograph` is given.
    """
    inlining.install(required=recursive or isinstance(target, torch.nn.Module))
    again = functools.partial(convert, recursive=recursive, effects=effects)
    if isinstance(target, type):
        return convert_module_class(target, again)
    if isinstance(target, torch.nn.Module):
        return convert_module(target, recursive, None)
    if isinstance(target, types.FunctionType) and policy.is_torch(target.__code__):
        return _calling(target, recursive)  # torch may have an operator for it, or a rule of its own
    if isinstance(target, types.FunctionType):
        code = marked(conversion_of(target, effects).code, follow=recursive)
        return new_function(target, with_origin(code, origin_of(target.__code__) or target.__code__))
    if isinstance(target, types.MethodType):
        return types.MethodType(again(target.__func__), target.__self__)
    if isinstance(target, (staticmethod, classmethod)):
        return type(target)(again(target.__func__))
    if isinstance(target, functools.partial):
        return functools.partial(again(target.func), *target.args, **target.keywords)
    if isinstance(target, (types.BuiltinFunctionType, types.BuiltinMethodType)) or not callable(target):
        if refuse_builtins or not callable(target):
            raise _not_convertible(target)
        of_torch = str(getattr(target, "__module__", "")).partition(".")[0] == "torch"
        return _calling(target, recursive) if of_torch else target
    return _calling(target, recursive)


def conversion_of(function: types.FunctionType, effects: frozenset[str] = frozenset()) -> Conversion:
    """What the compiler makes of a function."""
    return convert_code(function.__code__, names_in_reach(function), {}, effects)


def _calling(target: Callable[..., Any], recursive: bool) -> Callable[..., Any]:
    """A callable object: a function that calls it, from which conversion follows the call."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return target(*args, **kwargs)

    made = new_function(call, named_for(marked(call.__code__, follow=recursive), type(target)))
    return functools.wraps(target, updated=())(made)


@overload
def do_not_convert(target: F, /) -> F: ...
@overload
def do_not_convert(target: str, /) -> None: ...
def do_not_convert(target: Any, /) -> Any:
    """Leave a function as it is, also when a converted one calls it; or all functions of a module, by its name."""
    if isinstance(target, str):
        return policy.leave_out_module(target)
    policy.leave_out(getattr(target, "__func__", target))
    return target


def _not_convertible(target: Any) -> ConversionError:
    label = getattr(target, "__qualname__", None) or repr(target)
    return ConversionError(
        Diagnostic(
            "AG302",
            f"<{type(target).__name__}>",
            1,
            1,
            1,
            f"`{label}` has no Python source to rewrite",
            "decorate a Python function that calls it",
        )
    )
