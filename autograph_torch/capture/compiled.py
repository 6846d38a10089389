"""torch.compile(fullgraph=True) around a converted function, with torch's errors told in the user's terms."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch

from autograph_torch.capture import inlining
from autograph_torch.capture.errors import translated
from autograph_torch.diagnostics import CaptureError


def compiled_callable(converted: Callable[..., Any], original: Any, options: Mapping[str, Any]) -> Callable[..., Any]:
    """Compile `converted`; the wrapper looks like `original` and raises this package's errors.

    Args:
        options: keywords of torch.compile; and `fallback`: "graph_break" compiles what cannot be one graph in parts.
    """
    whole = torch.compile(converted, **{"fullgraph": True, **_for_torch(options)})
    run = _WithBreaks(converted, whole, _for_torch(options)) if options.get("fallback") else whole

    @functools.wraps(original, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return converted(*args, **kwargs)
        with translated():
            return run(*args, **kwargs)

    call.__autograph_converted__ = converted  # type: ignore[attr-defined]
    return call


def _for_torch(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "fallback"}


class _WithBreaks:
    """One graph if that is possible, else several: a place that cannot be captured runs as plain Python."""

    def __init__(self, converted: Callable[..., Any], whole: Callable[..., Any], options: Mapping[str, Any]) -> None:
        self._whole = whole
        self._parts = torch.compile(converted, **{**options, "fullgraph": False})
        self._broken = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._broken:
            try:
                return self._whole(*args, **kwargs)
            except CaptureError as error:  # raised while compiling: nothing has run yet
                self._broken = True
                warnings.warn(f"compiled with graph breaks, because of\n{error}", stacklevel=4)
        with inlining.frames_of_their_own():
            return self._parts(*args, **kwargs)
