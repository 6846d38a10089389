"""autograph-torch: Python control flow on tensors becomes one torch graph.

The names below load on first use, so that the command line and the compiler's own parts start without torch.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

# In a checkout passes/ lies beside this package; pyproject.toml installs it as autograph_torch.passes.
if not os.path.isdir(os.path.join(__path__[0], "passes")):
    __path__.append(os.path.dirname(__path__[0]))

__version__ = "0.1.0"

_EXPORTS = {
    "AutographError": "autograph_torch.diagnostics",
    "CaptureError": "autograph_torch.diagnostics",
    "ConversionError": "autograph_torch.diagnostics",
    "OnePathWarning": "autograph_torch.diagnostics",
    "SourceError": "autograph_torch.diagnostics",
    "autograph": "autograph_torch.decorator",
    "convert": "autograph_torch.decorator",
    "do_not_convert": "autograph_torch.decorator",
    "to_source": "autograph_torch.capture.text",
    "explain": "autograph_torch.capture.explain",
    "export": "autograph_torch.capture.export",
    "trace": "autograph_torch.capture.export",
}
__all__ = sorted([*_EXPORTS, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(_EXPORTS[name])
    except AttributeError as error:  # which `from autograph_torch import ...` would hide
        raise ImportError(f"autograph-torch does not know this version of torch: {error}") from error
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
