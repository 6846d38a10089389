"""torch.compile(fullgraph=True) around a converted function, with torch's errors told in the user's terms."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.exc import Unsupported

from autograph_torch.capture.errors import translated
from autograph_torch.diagnostics import CaptureError
from autograph_torch.runtime.performing import Settings, in_python, in_session


@dataclass(frozen=True)
class Compiling:
    """How a function is compiled: keywords of torch.compile, and what becomes of its effects."""

    options: Mapping[str, Any]
    effects: Settings


def compiled_callable(converted: Callable[..., Any], original: Any, how: Compiling) -> Callable[..., Any]:
    """Compile `converted`; the wrapper looks like `original` and raises this package's errors."""
    compiled = torch.compile(converted, **{"fullgraph": True, **how.options})
    settings = how.effects

    @functools.wraps(original, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return converted(*args, **kwargs)
        try:
            with translated():
                return in_session(settings, compiled, converted, args, kwargs)
        except CaptureError as refused:
            if not _raises_in_python(refused):
                raise
            error = refused
        # Whatever the data, this call raises; no graph can. What the program does until then, it does in Python.
        in_python(settings, converted, args, kwargs)
        raise error

    call.__autograph_converted__ = converted  # type: ignore[attr-defined]
    return call


def _raises_in_python(error: CaptureError) -> bool:
    """Whether the trace has ended in an exception that the program raises without asking data."""
    cause = error.__cause__
    return isinstance(cause, Unsupported) and cause.gb_type == "Observed exception"
