"""What the nodes of a captured graph write to, and the memory that their tensors lie in.

`x.add_(1)`, `x += 1`, `x[0] = 1`, `torch.relu_(x)`, `torch.add(x, 1, out=y)`, `F.relu(x, inplace=True)`, operators
whose schema says that they write, and the running statistics of a normalisation in training.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Collection
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch.fx import GraphModule, Node

from autograph_torch.runtime.memories import WRITTEN_BACK
from autograph_torch.runtime.reordering import is_reordered

Storage = int

_OPERATORS = ("cond", "while_loop")
_NO_WRITES = frozenset(("requires_grad_", "and_", "or_", "not_"))  # the latter are functions of Python's operator
_HANDS_ON = frozenset(("detach", "where", "getitem", "as_strided", "view", "to"))  # of what an operator gives
_NAMES = "setitem iadd iand ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor".split()
IN_PLACE = frozenset(getattr(operator, name) for name in _NAMES)
_IN_PLACE_METHODS = frozenset(f"__{name}__" for name in _NAMES)
_STATISTICS = ("input", "weight", "bias", "running_mean", "running_var")
_PARAMETERS: dict[Any, tuple[str, ...]] = {  # of functions without a signature
    torch.batch_norm: (*_STATISTICS, "training"),
    torch.instance_norm: (*_STATISTICS, "use_input_stats"),
}


def written(node: Node) -> list[Node]:
    """The nodes of the tensors that a node writes to."""
    if writes_in_place(node):
        first = next(iter((*node.args, *node.kwargs.values())), None)
        return list(dict.fromkeys(_flat(first) + _by_signature(node)))
    if node.op != "call_function" or is_operator(node):
        return []
    if isinstance(node.target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return _by_schema(node)
    return _by_signature(node)


def before_anchor(leaf: Any) -> Any:
    """What has been made a part of the differentiable graph (runtime/gradients.py), or the node itself."""
    if not isinstance(leaf, Node) or name_of(leaf) != "getitem":
        return leaf
    source = arguments_of(leaf)[0]
    is_anchored = name_of(source) == "autograd_function_apply" and is_anchor(source.args[-1])
    return source.args[-2] if is_anchored else leaf


def is_anchor(node: Any) -> bool:
    """Whether a node is the input that lets what is anchored record a gradient."""
    return "gradients_anchor" in str(node)


def writes_in_place(node: Node) -> bool:
    """Whether a node writes to its first argument and hands it out."""
    name = name_of(node)
    if node.op == "call_function":
        return node.target in IN_PLACE or (_is_in_place(name) and not is_operator(node)) or _is_told_to(node)
    return node.op == "call_method" and (name in _IN_PLACE_METHODS or _is_in_place(name))


def _is_told_to(node: Node) -> bool:
    """`F.relu(x, inplace=True)`"""
    said = any(value is True for value in (*node.args, *node.kwargs.values()))
    return said and bool(node.args) and given_by_name(node).get("inplace") is True


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__") and name not in _NO_WRITES


def _by_schema(node: Node) -> list[Any]:
    found: dict[Node, None] = {}
    for overload in _overloads(node.target):
        given = written_arguments(overload, node.args, node.kwargs)
        found.update((one, None) for value in given for one in _flat(value))
    return list(found)


def written_arguments(overload: Any, args: Any, kwargs: Any) -> list[Any]:
    """What an operator is given to write to, by its schema."""
    given = given_by_schema(overload, args, kwargs)
    writes = (one.name for one in overload._schema.arguments if one.alias_info is not None and one.alias_info.is_write)
    return [given[name] for name in writes if name in given]


def given_by_schema(overload: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of a call of an operator, by their names."""
    return {**dict(zip((one.name for one in overload._schema.arguments), args, strict=False)), **kwargs}


def _overloads(target: Any) -> list[Any]:
    is_packet = isinstance(target, torch._ops.OpOverloadPacket)
    return [getattr(target, name) for name in target.overloads()] if is_packet else [target]


def _by_signature(node: Node) -> list[Any]:
    """`out=`, `inplace=True`, the running statistics of a normalisation in training, and rows that are too long."""
    given = given_by_name(node)
    found = _flat(given.get("out"))
    if given.get("inplace") is True:
        found += _flat(next(iter(given.values())))
    if given.get("training") is True or given.get("use_input_stats") is True:
        found += [*_flat(given.get("running_mean")), *_flat(given.get("running_var"))]
    if given.get("max_norm") is not None:  # of F.embedding
        found += _flat(given.get("weight"))
    return found


def given_by_name(node: Node) -> dict[str, Any]:
    """The arguments of the function that a node calls."""
    try:
        return inspect.signature(node.target).bind(*node.args, **node.kwargs).arguments  # type: ignore[arg-type]
    except (TypeError, ValueError):  # a built-in function without a signature
        return {**dict(zip(_PARAMETERS.get(node.target, ()), node.args, strict=False)), **node.kwargs}


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [node for part in value for node in _flat(part)]
    return [value] if isinstance(value, Node) else []


def storage_at(value: Any) -> Storage | None:
    """The storage of the tensor that a node gives; None where it gives none."""
    tensor = value.meta.get("example_value") if isinstance(value, Node) else None
    if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
        return None
    try:
        return storage_of(tensor)
    except NotImplementedError:  # a tensor of vmap (torch 2.11)
        return None


def has_gradient(node: Node) -> bool:
    """Whether a node gives a tensor that records its gradient."""
    value = node.meta.get("example_value")
    return isinstance(value, torch.Tensor) and value.requires_grad


def given_nodes(call: Node, place: int, name: str) -> list[Node]:
    """The tensors of one argument of a call, which takes one or several."""
    given: Any = call.kwargs[name] if name in call.kwargs else call.args[place]
    return [one for one in (given if isinstance(given, (list, tuple)) else (given,)) if isinstance(one, Node)]


def storage_of(tensor: torch.Tensor) -> Storage:
    """What tells storages apart, those of fake tensors too (private: _cdata)."""
    return int(tensor.untyped_storage()._cdata)


def name_of(node: Node) -> str:
    """The name of the function or method that a node calls."""
    return node.target if isinstance(node.target, str) else str(getattr(node.target, "__name__", node.target))


def arguments_of(node: Node) -> tuple[Any, ...]:
    """The positional arguments; torch says of each that it may be anything an argument can be."""
    return node.args


def argument(node: Node, place: int) -> Any:
    """A positional argument; None where there are not so many, or it is given by name."""
    return node.args[place] if place < len(node.args) else None


def handed_out(node: Node, through: Collection[str]) -> Node | None:
    """The result of a torch.cond or torch.while_loop that a node is, or makes a copy or view of by these functions."""
    while (name_of(node) in through or is_reordered(node)) and node.all_input_nodes:
        inputs = node.all_input_nodes
        if is_operator(inputs[0]):
            return node
        node = inputs[1] if name_of(node) == "where" and len(inputs) > 1 else inputs[0]
    return None


def operator_behind(write: Node) -> Node | None:
    """The operator whose result is written back by a `copy_` of ours (runtime/outside.py)."""
    if WRITTEN_BACK not in write.meta:
        return None
    source = argument(write, 1)
    while isinstance(source, Node) and not is_operator(source):
        hands_on = name_of(source) in _HANDS_ON or is_reordered(source)
        source = argument(source, int(name_of(source) == "where")) if hands_on else None
    return source if isinstance(source, Node) else None


def is_operator(node: Node) -> bool:
    """Whether a node is a torch.cond or torch.while_loop."""
    return node.op == "call_function" and name_of(node) in _OPERATORS and len(node.args) == 4


def other_bodies(node: Node, module: GraphModule) -> list[tuple[GraphModule, tuple[Any, ...]]]:
    """The graphs of another operator (an `autograd.Function`, a checkpoint), and what the first one is given."""
    if not isinstance(node.target, HigherOrderOperator) or is_operator(node):
        return []
    names = [str(one.target) for one in arguments_of(node) if isinstance(one, Node) and one.op == "get_attr"]
    found = [one for one in (getattr(module, name, None) for name in names) if isinstance(one, GraphModule)]
    given = arguments_of(node)[len(found) :]
    return [(body, () if index else given) for index, body in enumerate(found)]


def written_in(node: Node, module: GraphModule) -> list[Node]:
    """The nodes of the tensors that the bodies of another operator write to."""
    found: list[Node] = []
    for body, given in other_bodies(node, module):
        targets = [target for inner in body.graph.nodes for target in (*written(inner), *written_in(inner, body))]
        storages = {storage_at(target) for target in targets} - {None}
        inputs = zip(body.graph.find_nodes(op="placeholder"), given, strict=False)
        found += [value for placeholder, value in inputs if storage_at(placeholder) in storages]
    return found
