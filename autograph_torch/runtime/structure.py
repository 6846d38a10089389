"""Taking results apart into tensors and putting them together again, by a plan. All of it is traced by Dynamo.

spec_of(value)            what it looks like, in constants (see layout.py)
encode(value, plan)       the tensors that travel through torch.cond or torch.while_loop
decode(plan, leaves)      the value, Python numbers as Python numbers

Every tensor is cloned on its way out: torch's operators refuse results that alias an input, a closed-over tensor or
each other (and under no_grad notice it only in Inductor).
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import has_static_value

from autograph_torch.runtime.layout import Plan, Spec
from autograph_torch.runtime.predicate import is_data_dependent
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.values import HOLE, Hole, Maybe, Undefined

_NUMBER_DTYPES = {"bool": torch.bool, "int": torch.int64, "float": torch.float64}


def spec_of(value: Any, originals: tuple[Any, ...] = (), handed: tuple[Any, ...] = ()) -> Spec:
    """Describe a value by constants.

    A tensor or container that *is* one of `originals` is described as the same object; and so is a value without data
    (a function, a module) that is one of `handed`.
    """
    for index, original in enumerate(originals):
        if value is original and isinstance(value, (torch.Tensor, list, dict)):
            return ("same", index, spec_of(value))
    if isinstance(value, torch.Tensor):
        sizes = tuple(size if has_static_value(size) else -1 for size in value.shape)
        return ("tensor", value.dtype, sizes, str(value.device), value.requires_grad)
    if isinstance(value, (bool, int, float)):
        return _number_spec(value)
    if value is None or isinstance(value, (str, torch.dtype)):
        return ("const", value)
    # By position: a loop variable would give its name to nodes of the graph, and nested bodies would share it.
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return ("named", type(value), tuple(spec_of(value[k], originals, handed) for k in range(len(value))))
    if isinstance(value, tuple):
        return ("tuple", len(value), tuple(spec_of(value[k], originals, handed) for k in range(len(value))))
    if isinstance(value, list):
        return ("list", len(value), tuple(spec_of(value[k], originals, handed) for k in range(len(value))))
    if isinstance(value, dict):
        return ("dict", tuple(value.keys()), tuple(spec_of(value[key], originals, handed) for key in value))
    if isinstance(value, Undefined):
        return ("undefined", value._name)
    if isinstance(value, Maybe):
        return ("maybe", value.name, (spec_of(value.value),))
    if isinstance(value, Hole):
        return ("hole",)
    for index, one in enumerate(handed):
        if value is one:
            return ("object", index, type(value).__name__)
    return refuse(
        "AG310",
        f"a branch or loop on a tensor cannot give a value of type {type(value).__name__}",
        "give tensors, Python numbers, or tuples, lists and dicts of them",
    )


def _number_spec(value: bool | int | float) -> Spec:
    if not is_data_dependent(value) and has_static_value(value):
        return ("const", value)
    if isinstance(value, bool):
        return ("number", "bool")
    return ("number", "int" if isinstance(value, int) else "float")


def encode(value: Any, plan: Plan, for_branch: bool = False) -> list[torch.Tensor]:
    """The tensors that carry `value` after `plan`; places that this path leaves out are filled with zeros.

    For a branch whose gradients are recorded, integers and truth values travel as floats: torch.cond cannot have
    results without a gradient beside results with one (torch 2.13: "outs_to_grad length != tangents length").
    """
    leaves = _leaves(value, plan)
    if for_branch and torch.is_grad_enabled() and any(leaf.is_floating_point() for leaf in leaves):
        return [_as_float(leaf) for leaf in leaves]
    return leaves


def _as_float(leaf: torch.Tensor) -> torch.Tensor:
    """The same bits as float64; no arithmetic is ever done with them."""
    if leaf.is_floating_point() or leaf.is_complex():
        return leaf
    return leaf.to(torch.int64).view(torch.float64)


def _from_float(leaf: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    if dtype.is_floating_point or dtype.is_complex or not leaf.is_floating_point():
        return leaf
    return leaf.detach().view(torch.int64).to(dtype)


def _leaves(value: Any, plan: Plan) -> list[torch.Tensor]:
    kind = plan[0]
    if kind == "maybe":
        return _maybe_leaves(value, plan)
    if kind in ("tuple", "list", "named", "dict"):
        parts = _parts(value, kind, len(plan[2]))
        return [leaf for k in range(len(parts)) for leaf in _leaves(parts[k], plan[2][k])]
    if kind == "tensor":
        return [_tensor_leaf(value, plan)]
    if kind == "number":
        filler = 0 if isinstance(value, (Hole, Undefined)) else value
        return [torch.scalar_tensor(filler, dtype=_NUMBER_DTYPES[plan[1]])]
    return []


def _maybe_leaves(value: Any, plan: Plan) -> list[torch.Tensor]:
    if isinstance(value, Maybe):
        return [value.flag.clone(), *_leaves(value.value, plan[2][0])]
    bound = not isinstance(value, (Hole, Undefined))
    return [torch.full((), bound), *_leaves(value, plan[2][0])]


def _parts(value: Any, kind: str, count: int) -> list[Any]:
    if isinstance(value, (Hole, Undefined)):
        return [HOLE] * count
    return list(value.values()) if kind == "dict" else list(value)


def _tensor_leaf(value: Any, plan: Plan) -> torch.Tensor:
    _, dtype, sizes, device, _ = plan
    if isinstance(value, torch.Tensor):
        return _own_contiguous(value)
    if isinstance(value, (Hole, Undefined)):
        return torch.zeros([1 if size == -1 else size for size in sizes], dtype=dtype, device=device)
    return torch.scalar_tensor(value, dtype=dtype, device=device)


def _own_contiguous(tensor: torch.Tensor) -> torch.Tensor:
    """A copy in row-major order. By way of one dimension, which leaves Inductor no other layout to choose."""
    if tensor.ndim < 2:
        return tensor.clone(memory_format=torch.contiguous_format)
    return tensor.reshape(-1).clone().reshape(tensor.shape)


def fillers(plan: Plan) -> list[torch.Tensor]:
    """Leaves of the right form for a result that will be thrown away."""
    return encode(HOLE, plan, for_branch=True)


def decode(
    plan: Plan,
    leaves: list[torch.Tensor],
    originals: tuple[Any, ...] = (),
    handed: tuple[Any, ...] = (),
    for_branch: bool = False,
) -> Any:
    """Put a value together again from its leaves, which are used up from the front."""
    kind = plan[0]
    if kind == "tensor":
        return _from_float(leaves.pop(0), plan[1])
    if kind == "number":
        return _from_float(leaves.pop(0), _NUMBER_DTYPES[plan[1]]).item()
    if kind == "const":
        if for_branch and isinstance(plan[1], (bool, int, float)):
            leaves.pop(0)  # it travelled in case the branches gave different numbers
        return plan[1]
    if kind == "same":
        return originals[plan[1]]
    if kind == "object":
        return handed[plan[1]]
    if kind == "undefined":
        return Undefined(plan[1])
    if kind == "hole":
        return HOLE
    if kind == "maybe":
        flag = _from_float(leaves.pop(0), torch.bool)
        return Maybe(flag, decode(plan[2][0], leaves, originals, handed, for_branch), plan[1])
    parts = [decode(inner, leaves, originals, handed, for_branch) for inner in plan[2]]
    if kind == "named":
        return plan[1](*parts)
    if kind == "dict":
        return dict(zip(plan[1], parts, strict=True))
    return tuple(parts) if kind == "tuple" else parts


def lift(value: Any) -> Any:
    """A number that depends on data as a tensor: torch's operators refuse to close over floats and truth values."""
    if isinstance(value, (bool, float)) and not has_static_value(value):
        spec = _number_spec(value)
        return torch.scalar_tensor(value, dtype=_NUMBER_DTYPES[spec[1]])
    if isinstance(value, list):
        return [lift(value[k]) for k in range(len(value))]
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(lift(value[k]) for k in range(len(value)))
    if isinstance(value, dict):
        return {key: lift(value[key]) for key in value}
    return value


def lower(lifted: Any, original: Any) -> Any:
    """Inside the operator: the number again."""
    if isinstance(lifted, torch.Tensor):
        # A copy: the tensor itself remembers the symbol it was made of, which Inductor does not know in here.
        return lifted if isinstance(original, torch.Tensor) else lifted.clone().item()
    if isinstance(lifted, list):
        return [lower(lifted[k], original[k]) for k in range(len(lifted))]
    if isinstance(lifted, tuple) and not hasattr(lifted, "_fields"):
        return tuple(lower(lifted[k], original[k]) for k in range(len(lifted)))
    if isinstance(lifted, dict):
        return {key: lower(lifted[key], original[key]) for key in lifted}
    return lifted


def copy_of(value: Any) -> Any:
    """An object of its own to write to: what a branch does to it stays in the branch until it is written back."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, list):
        return list(value)
    if isinstance(value, dict):
        return dict(value)
    return value


def apart(value: Any) -> Any:
    """The same value in memory of its own."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, list):
        return [apart(value[k]) for k in range(len(value))]
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(apart(value[k]) for k in range(len(value)))
    return value


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
