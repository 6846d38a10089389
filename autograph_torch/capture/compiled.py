"""torch.compile(fullgraph=True) around a converted function, with torch's errors told in the user's terms."""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from autograph_torch.capture import compiling
from autograph_torch.capture.caches_given import RunsInPython
from autograph_torch.capture.errors import raises_whatever_the_data, translated
from autograph_torch.capture.graph_limit import TooManyGraphs
from autograph_torch.diagnostics import CaptureError
from autograph_torch.runtime.performing import Settings, in_python, in_session, session


@dataclass(frozen=True)
class Compiling:
    """How a function is compiled: keywords of torch.compile, and what becomes of its effects.

    fallback: "graph_break" compiles what cannot be one graph in parts.
    """

    options: Mapping[str, Any]
    effects: Settings
    fallback: str | None = None


def compiled_callable(converted: Callable[..., Any], original: Any, how: Compiling) -> Callable[..., Any]:
    """Compile `converted`; the wrapper looks like `original` and raises this package's errors."""
    whole = _Whole(converted, original, how)
    run = _WithBreaks(converted, whole, how) if how.fallback else whole

    function, given = getattr(converted, "__func__", converted), getattr(original, "__func__", original)
    has_defaults = isinstance(function, types.FunctionType) and isinstance(given, types.FunctionType)

    def take_over_defaults() -> None:  # which a program may change; to set them has its price for CPython
        if function.__defaults__ is not given.__defaults__:
            function.__defaults__ = given.__defaults__
        if function.__kwdefaults__ is not given.__kwdefaults__:
            function.__kwdefaults__ = given.__kwdefaults__

    @functools.wraps(original, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return converted(*args, **kwargs)
        if has_defaults:
            take_over_defaults()
        return run(*args, **kwargs)

    call.__autograph_converted__ = converted  # type: ignore[attr-defined]
    return call


class _Whole:
    """One graph. A call that raises, or for which no graph will be made, runs in Python, as the user wrote it."""

    def __init__(self, converted: Callable[..., Any], original: Any, how: Compiling) -> None:
        self._plain = original
        self._compiled = torch.compile(converted, **{"fullgraph": True, **how.options})
        self._settings = how.effects
        self._has_told = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        error: CaptureError | None = None
        try:
            with translated():
                return in_session(self._settings, self._compiled, self._plain, args, kwargs)
        except RunsInPython:
            pass
        except TooManyGraphs as refused:
            error = refused
        except CaptureError as refused:
            if not raises_whatever_the_data(refused):
                raise
            error = refused
        # There is no graph for this call; or it raises whatever the data, and does until then what it does in Python:
        # it may handle what it raises.
        result = in_python(self._settings, self._plain, args, kwargs)
        if error is not None:
            self._tell(error)
        return result

    def _tell(self, refused: CaptureError) -> None:
        if not self._has_told:
            self._has_told = True
            warnings.warn(f"calls run in Python, because of\n{refused}", RuntimeWarning, stacklevel=4)


class _WithBreaks:
    """One graph if that is possible, else several: a place that cannot be captured runs as plain Python.

    Between the graphs Python runs, so effects are not put off until the call returns.
    """

    def __init__(self, converted: Callable[..., Any], whole: _Whole, how: Compiling) -> None:
        self._whole = whole
        self._parts = torch.compile(converted, **{**how.options, "fullgraph": False})
        self._settings = how.effects if how.effects.mode == "drop" else replace(how.effects, mode="immediate")
        self._broken = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._broken:
            try:
                return self._whole(*args, **kwargs)
            except CaptureError as error:  # raised while compiling: nothing has run yet
                self._broken = True
                warnings.warn(f"compiled with graph breaks, because of\n{error}", stacklevel=3)
        with translated(), compiling.frames_of_their_own(), session(self._settings):
            return self._parts(*args, **kwargs)
