"""Taking results apart into tensors and putting them together again, by a plan. All of it is traced by Dynamo.

spec_of(value)            what it looks like, in constants (see layout.py)
encode(value, plan)       the tensors that travel through torch.cond or torch.while_loop
decode(plan, leaves)      the value, Python numbers as Python numbers

Every tensor is cloned on its way out: torch's operators refuse results that alias an input, a closed-over tensor or
each other (and under no_grad notice it only in Inductor).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import has_static_value

from autograph_torch.runtime.layout import Plan, Spec
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.values import HOLE, Hole, Maybe, Undefined

_NUMBER_DTYPES = {"bool": torch.bool, "int": torch.int64, "float": torch.float64}


Seen = list[tuple[torch.Tensor, tuple[int, ...]]]


def spec_of(
    value: Any,
    originals: tuple[tuple[Any, ...], ...] = (),
    handed: tuple[Any, ...] = (),
    seen: Seen | None = None,
    path: tuple[int, ...] = (),
) -> Spec:
    """Describe a value by constants.

    A tensor or container that *is* one of `originals` (each with what stands in for it) is described as the same
    object; and so is a value without data (a function, a module) that is one of `handed`. With `seen`, a tensor that
    comes again in the value is described by the path of its first place.
    """
    if isinstance(value, (torch.Tensor, list, dict)):
        for index in range(len(originals)):
            if any(_is(value, one) for one in originals[index]):
                return ("same", index, spec_of(value))
    if isinstance(value, torch.Tensor):
        sizes = tuple(size if has_static_value(size) else -1 for size in value.shape)
        spec = ("tensor", value.dtype, sizes, str(value.device), value.requires_grad)
        if seen is not None:
            for other, first in seen:
                if value is other:
                    return ("again", first, spec)
            seen.append((value, path))
        return spec
    if isinstance(value, (bool, int, float)):
        return _number_spec(value)
    if value is None or isinstance(value, (str, torch.dtype)):
        return ("const", value)
    # By position: a loop variable would give its name to nodes of the graph, and nested bodies would share it.
    if isinstance(value, (tuple, list)):
        parts = tuple(spec_of(value[k], originals, handed, seen, (*path, k)) for k in range(len(value)))
        if hasattr(value, "_fields"):
            return ("named", type(value), parts)
        return ("tuple" if isinstance(value, tuple) else "list", len(value), parts)
    if isinstance(value, dict):
        keys = tuple(value.keys())
        parts = tuple(spec_of(value[keys[k]], originals, handed, seen, (*path, k)) for k in range(len(keys)))
        return ("dict", keys, parts)
    if is_record(value):
        names = tuple(field.name for field in dataclasses.fields(value))
        inner = [spec_of(getattr(value, names[k]), originals, handed, seen, (*path, k)) for k in range(len(names))]
        return ("record", type(value), tuple(inner))
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


def is_record(value: Any) -> bool:
    """Whether it is a frozen dataclass that its fields make up: one may stand for the other."""
    return (
        dataclasses.is_dataclass(value)
        and not isinstance(value, type)
        and type(value).__dataclass_params__.frozen  # type: ignore[attr-defined]
        and not hasattr(value, "__post_init__")
    )


def same_object(value: Any, other: Any, found: bool | None = None) -> bool:
    """`value is other`; the tracer fills in the answer for containers, which torch 2.11 cannot give."""
    return value is other if found is None else found


def _is(value: Any, other: Any) -> bool:
    if isinstance(value, torch.Tensor) or isinstance(other, torch.Tensor):
        return isinstance(value, torch.Tensor) == isinstance(other, torch.Tensor) and value is other
    return same_object(value, other)


def _number_spec(value: bool | int | float) -> Spec:
    if has_static_value(value):  # asked first: a question about a number may put a guard on it
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
    if kind in ("tuple", "list", "named", "dict", "record"):
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
    if kind == "record":
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
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
    done: dict[tuple[int, ...], torch.Tensor] | None = None,
    path: tuple[int, ...] = (),
) -> Any:
    """Put a value together again from its leaves, which are used up from the front; `done`: tensors by their path."""
    kind = plan[0]
    if kind == "tensor":
        tensor = _from_float(leaves.pop(0), plan[1])
        if done is not None:
            done[path] = tensor
        return tensor
    if kind == "number":
        return _from_float(leaves.pop(0), _NUMBER_DTYPES[plan[1]]).item()
    if kind == "const":
        if for_branch and isinstance(plan[1], (bool, int, float)):
            leaves.pop(0)  # it travelled in case the branches gave different numbers
        return plan[1]
    if kind == "same":
        return originals[plan[1]]
    if kind == "again":
        assert done is not None
        return done[plan[1]]
    if kind == "object":
        return handed[plan[1]]
    if kind == "undefined":
        return Undefined(plan[1])
    if kind == "hole":
        return HOLE
    if kind == "maybe":
        flag = _from_float(leaves.pop(0), torch.bool)
        return Maybe(flag, decode(plan[2][0], leaves, originals, handed, for_branch), plan[1])
    parts = [decode(plan[2][k], leaves, originals, handed, for_branch, done, (*path, k)) for k in range(len(plan[2]))]
    if kind in ("named", "record"):
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
    return lifted


Pairs = list[tuple[Any, Any]]


def copy_of(value: Any, pairs: Pairs) -> Any:
    """Containers of its own to write to; `pairs` gets every list and dict inside, each with its copy.

    What a branch does to them stays in the branch until it is written back.
    """
    if isinstance(value, list):
        items: list[Any] = []
        pairs.append((value, items))
        items.extend([copy_of(value[k], pairs) for k in range(len(value))])
        return items
    if isinstance(value, dict):
        entries: dict[Any, Any] = {}
        pairs.append((value, entries))
        entries.update({key: copy_of(value[key], pairs) for key in value})
        return entries
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(copy_of(value[k], pairs) for k in range(len(value)))
    return value


def is_in(value: Any, containers: tuple[Any, ...]) -> bool:
    return isinstance(value, (list, dict)) and any(same_object(value, container) for container in containers)


def copy_in(value: Any, pairs: Pairs) -> Any:
    """What a branch finds for `value`: the copy, when it is a container that has one."""
    for original, copy in pairs:
        if same_object(value, original):
            return copy
    return value


def content_of(container: Any) -> Any:
    """What is in a container, as a value that is not the container itself."""
    return list(container) if isinstance(container, list) else dict(container)


def tensors_in(value: Any) -> tuple[torch.Tensor, ...]:
    """The tensors in nested lists, dicts and tuples."""
    if isinstance(value, torch.Tensor):
        return (value,)
    if isinstance(value, dict):
        return tuple(one for key in value for one in tensors_in(value[key]))
    if isinstance(value, (list, tuple)):
        return tuple(one for k in range(len(value)) for one in tensors_in(value[k]))
    return ()


def write_back(original: Any, new: Any) -> None:
    """Make the original container look like the copy that was written to, so that every alias sees it."""
    if isinstance(original, list):
        original.clear()
        original.extend(new)
    elif isinstance(original, dict):
        original.clear()
        original.update(new)


def write_back_nested(original: Any, new: Any) -> Any:
    """As `write_back`, for containers that have been taken apart: those inside stay the objects that they were."""
    if isinstance(original, list) and isinstance(new, list):
        kept = [write_back_nested(original[k], new[k]) if k < len(original) else new[k] for k in range(len(new))]
        write_back(original, kept)
        return original
    if isinstance(original, dict) and isinstance(new, dict):
        write_back(original, {k: write_back_nested(original[k], new[k]) if k in original else new[k] for k in new})
        return original
    return new
