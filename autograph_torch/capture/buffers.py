"""`self.steps += 1` and `self.a, self.b = self.b, self.a` in a body, where the attributes are buffers.

`Module.__setattr__` puts the tensor into a dict, by ways that Dynamo cannot follow in a body. Where the tensor is the
one that is there already (the write in place is all there is to it), an empty function is traced instead; where it is
another one, a function that only puts it into the dict. The same for modules that the trace has made, anywhere: torch
asks `inspect.signature` for the signature of their `register_buffer`.

    self.scale = self.weight         of a parameter, it registers one: in a body, under a new name, that is refused

Private: the cell that `Module.__setattr__` has for a name; tests/programs/buffers.py fails when torch changes it.
"""

from __future__ import annotations

import types
from typing import Any

import torch
from torch._dynamo.variables import CellVariable, ConstDictVariable
from torch._dynamo.variables.base import AttributeMutationNew

from autograph_torch.capture.dynamo_names import get_attribute
from autograph_torch.capture.identity import is_same
from autograph_torch.runtime.refusal import raise_refusal


def set_nothing(self: Any, name: str, value: Any) -> None:
    """What is traced in the place of `Module.__setattr__` for the buffer that the module has."""


def set_buffer(self: Any, name: str, value: Any) -> None:
    """What is traced in its place for another tensor."""
    self._buffers[name] = value


def setter_of_buffers(code: types.CodeType, parent: Any, arguments: dict[str, Any]) -> types.CodeType | None:
    """What takes the place of the code, where it gives a buffer in a body, or to a module that the trace has made."""
    if code is not torch.nn.Module.__setattr__.__code__:
        return None
    tracer = parent.output.current_tracer
    module, name, value = (_seen(arguments[key], parent) for key in ("self", "name", "value"))
    made_here = isinstance(module.mutation_type, AttributeMutationNew)
    if (tracer.parent is None and not made_here) or not value.is_tensor():
        return None
    if issubclass(value.python_type(), torch.nn.Parameter):
        _refuse_new(module, name.as_python_constant(), in_a_body=tracer.parent is not None)
        return None
    if name.as_python_constant() not in _names_of_buffers(module, made_here, parent):
        return None
    again = is_same(get_attribute(module, parent, name.as_python_constant()), value, tracer)
    return (set_nothing if again else set_buffer).__code__


def _refuse_new(module: Any, name: str, in_a_body: bool) -> None:
    """A parameter is registered with the module, which would happen whichever path is taken."""
    if in_a_body and name not in getattr(getattr(module, "value", None), "_parameters", ()):
        message = f"`{name}` becomes a parameter of the module in a branch or loop, whichever path is taken"
        raise_refusal("AG206", message, "register it in `__init__`")


def _names_of_buffers(module: Any, made_here: bool, parent: Any) -> set[str]:
    if not made_here:
        return set(getattr(module.value, "_buffers", {}))
    known = get_attribute(module, parent, "_buffers").realize()
    return {key.vt.as_python_constant() for key in known.items} if isinstance(known, ConstDictVariable) else set()


def _seen(variable: Any, parent: Any) -> Any:
    """What is in a cell, or behind a variable that has not been looked at."""
    inside = parent.output.side_effects.load_cell(variable) if isinstance(variable, CellVariable) else variable
    return inside.realize()
