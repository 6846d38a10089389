"""torch.compile(fullgraph=True) around a converted function, with torch's errors told in the user's terms."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch

from autograph_torch.capture.errors import translated


def compiled_callable(converted: Callable[..., Any], original: Any, options: Mapping[str, Any]) -> Callable[..., Any]:
    """Compile `converted`; the wrapper looks like `original` and raises this package's errors."""
    compiled = torch.compile(converted, **{"fullgraph": True, **options})

    @functools.wraps(original, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return converted(*args, **kwargs)
        with translated():
            return compiled(*args, **kwargs)

    call.__autograph_converted__ = converted  # type: ignore[attr-defined]
    return call
