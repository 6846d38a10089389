"""Modules of an nn.ModuleList whose position data tell: the trace stops at the user's line, not inside of the list.

    y = self.experts[k](x)                 the next attempt puts each of them into a branch (passes/positions.py)

Private: the name `idx` in ModuleList.__getitem__.
tests/capture/test_module_lists.py fails clearly when torch changes it.
"""

from __future__ import annotations

import types
from typing import Any

import torch
from torch._dynamo.variables import SymNodeVariable
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.runtime.refusal import raise_refusal

SPECIALIZED = "specialized integer"  # so torch calls it, too


def stop_at_indices(code: types.CodeType, _: Any, arguments: dict[str, Any]) -> None:
    """Refuse to enter `modules[k]` when data tell k.

    Raises:
        CaptureError: AG321.
    """
    if code is not torch.nn.ModuleList.__getitem__.__code__:
        return
    index = arguments["idx"].realize()
    of_data = isinstance(index, SymNodeVariable) and has_free_unbacked_symbols(index.sym_num)
    if of_data or index.is_tensor():
        advice = "call it where it stands: `self.modules[k](x)`"
        raise_refusal("AG321", f"a position in a ModuleList that data tell is no {SPECIALIZED}", advice)
