"""`self.steps += 1` in a body, where `steps` is a buffer: the write in place is all there is to it.

Python assigns the result of the write to the attribute again, and `Module.__setattr__` puts it into a dict, which a
body may not write to. Where the tensor is the one that is there already, an empty function is traced instead.

Private: the cell that `Module.__setattr__` has for a name; tests/programs/buffers.py fails when torch changes it.
"""

from __future__ import annotations

import types
from typing import Any

import torch
from torch._dynamo.variables import CellVariable

from autograph_torch.capture.standing_in import is_same


def set_nothing(self: Any, name: str, value: Any) -> None:
    """What is traced in the place of `Module.__setattr__`."""


def sets_again(code: types.CodeType, parent: Any, arguments: dict[str, Any]) -> bool:
    """Whether a module is about to be given the buffer that it has, inside of a branch or loop."""
    tracer = parent.output.current_tracer
    if code is not torch.nn.Module.__setattr__.__code__ or tracer.parent is None:
        return False
    module, name, value = (_seen(arguments[key], parent) for key in ("self", "name", "value"))
    key = name.as_python_constant()
    if not value.is_tensor() or key not in getattr(module.value, "_buffers", {}):
        return False
    return is_same(module.var_getattr(parent, key), value, tracer)


def _seen(variable: Any, parent: Any) -> Any:
    """What is in a cell, or behind a variable that has not been looked at."""
    inside = parent.output.side_effects.load_cell(variable) if isinstance(variable, CellVariable) else variable
    return inside.realize()
