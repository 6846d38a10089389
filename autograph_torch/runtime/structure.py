"""What values look like, and values carried into torch's operators. All of it is traced by Dynamo.

spec_of(value)            what it looks like, in constants (see layout.py)
lift(value), lower(...)   numbers that depend on data, as tensors and back
copy_of, apart            objects and memory of their own; write_back copies into the original

Dynamo interprets this file bytecode by bytecode, for every leaf of both branches of every `if`. So loops run by
position (a loop variable would also give its name to nodes of the graph, and nested bodies would share it), there are
no generators, and what a tensor needs stands first.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import has_static_value

from autograph_torch.runtime.codec import NUMBER_DTYPES
from autograph_torch.runtime.layout import Spec
from autograph_torch.runtime.predicate import is_data_dependent
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.values import Hole, Maybe, Undefined


def spec_of(value: Any, originals: tuple[Any, ...] = (), handed: tuple[Any, ...] = ()) -> Spec:
    """Describe a value by constants.

    A tensor or container that *is* one of `originals` is described as the same object; and so is a value without data
    (a function, a module) that is one of `handed`.
    """
    if originals and isinstance(value, (torch.Tensor, list, dict)):
        for index in range(len(originals)):
            if value is originals[index]:
                return ("same", index, spec_of(value))
    if isinstance(value, torch.Tensor):
        return _tensor_spec(value)
    if isinstance(value, (bool, int, float)):
        return _number_spec(value)
    if isinstance(value, tuple):
        specs = _specs(value, originals, handed)
        return ("named", type(value), specs) if hasattr(value, "_fields") else ("tuple", len(value), specs)
    if value is None or isinstance(value, (str, torch.dtype)):
        return ("const", value)
    if isinstance(value, list):
        return ("list", len(value), _specs(value, originals, handed))
    if isinstance(value, dict):
        return ("dict", tuple(value.keys()), _specs(list(value.values()), originals, handed))
    if isinstance(value, Undefined):
        return ("undefined", value._name)
    if isinstance(value, Maybe):
        return ("maybe", value.name, (spec_of(value.value),))
    if isinstance(value, Hole):
        return ("hole",)
    for index in range(len(handed)):
        if value is handed[index]:
            return ("object", index, type(value).__name__)
    return refuse(
        "AG310",
        f"a branch or loop on a tensor cannot give a value of type {type(value).__name__}",
        "give tensors, Python numbers, or tuples, lists and dicts of them",
    )


def _specs(values: tuple[Any, ...] | list[Any], originals: tuple[Any, ...], handed: tuple[Any, ...]) -> Spec:
    found: Spec = ()
    for k in range(len(values)):
        if not originals and isinstance(values[k], torch.Tensor):
            found += (_tensor_spec(values[k]),)
        else:
            found += (spec_of(values[k], originals, handed),)
    return found


def _tensor_spec(tensor: torch.Tensor) -> Spec:
    sizes: tuple[int, ...] = ()  # -1 where only the run tells
    for k in range(tensor.ndim):
        sizes += (tensor.shape[k] if has_static_value(tensor.shape[k]) else -1,)
    return ("tensor", tensor.dtype, sizes, str(tensor.device), tensor.requires_grad)


def _number_spec(value: bool | int | float) -> Spec:
    if not is_data_dependent(value) and has_static_value(value):
        return ("const", plain(value))
    if isinstance(value, bool):
        return ("number", "bool")
    return ("number", "int" if isinstance(value, int) else "float")


def plain(number: Any) -> Any:
    """A number that a guard has settled, as Python's own. (The tracer's hook puts it in place of the symbol.)"""
    return number


def lift(value: Any) -> Any:
    """A number that depends on data as a tensor: torch's operators refuse to close over floats and truth values."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, (bool, float)) and not has_static_value(value):
        spec = _number_spec(value)
        return torch.scalar_tensor(value, dtype=NUMBER_DTYPES[spec[1]])
    if isinstance(value, list):
        return list(lift_all(value))
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return lift_all(value)
    return value


def lift_all(values: tuple[Any, ...] | list[Any]) -> tuple[Any, ...]:
    """Each value lifted."""
    lifted: tuple[Any, ...] = ()
    for k in range(len(values)):
        lifted += (values[k] if isinstance(values[k], torch.Tensor) else lift(values[k]),)
    return lifted


def lower(lifted: Any, original: Any) -> Any:
    """Inside the operator: the number again."""
    if isinstance(original, torch.Tensor):
        return lifted
    if isinstance(lifted, torch.Tensor):
        # A copy: the tensor itself remembers the symbol it was made of, which Inductor does not know in here.
        return lifted.clone().item()
    if isinstance(lifted, list):
        return list(lower_all(lifted, original))
    if isinstance(lifted, tuple) and not hasattr(lifted, "_fields"):
        return lower_all(lifted, original)
    return lifted


def lower_all(lifted: tuple[Any, ...] | list[Any], originals: tuple[Any, ...] | list[Any]) -> tuple[Any, ...]:
    """Each value lowered."""
    lowered: tuple[Any, ...] = ()
    for k in range(len(lifted)):
        lowered += (lifted[k] if isinstance(originals[k], torch.Tensor) else lower(lifted[k], originals[k]),)
    return lowered


def copy_of(value: Any) -> Any:
    """An object of its own to write to: what a branch does to it stays in the branch until it is written back."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, list):
        return list(value)
    if isinstance(value, dict):
        return dict(value)
    return value


def copies_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """A copy of each."""
    copies: tuple[Any, ...] = ()
    for k in range(len(values)):
        copies += (copy_of(values[k]),)
    return copies


def apart(value: Any) -> Any:
    """The same value in memory of its own."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, list):
        return list(apart_all(value))
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return apart_all(value)
    return value


def apart_all(values: tuple[Any, ...] | list[Any]) -> tuple[Any, ...]:
    """Each value in memory of its own."""
    own: tuple[Any, ...] = ()
    for k in range(len(values)):
        own += (values[k].clone() if isinstance(values[k], torch.Tensor) else apart(values[k]),)
    return own


def write_back(original: Any, new: Any) -> None:
    """Make the original object look like the copy that was written to, so that every alias sees it."""
    if isinstance(original, torch.Tensor):
        original.copy_(new)
    elif isinstance(original, list):
        original.clear()
        original.extend(new)
    elif isinstance(original, dict):
        original.clear()
        original.update(new)
