"""The results of our branches, and what our loops carry, are flat lists of tensors: Dynamo need not walk through them.

    leaves = torch.cond(flag, then, otherwise, ())     torch flattens what each branch gives, compares the structures,
                                                       and unflattens the results, interpreted line by line
    leaves = torch.while_loop(test, trip, begin)       so it does with `(begin, ())`, and again in the test and the trip

That was a quarter of the time of a trace. The number of leaves is all there is to know about such a list.

Private: `torch.utils._pytree` is inlined by the frame that calls the operator. tests/capture/test_plain_values.py fails
clearly when torch changes what this leans on.
"""

from __future__ import annotations

import types
from typing import Any

from torch._dynamo.variables import ConstantVariable, ListVariable, TensorVariable, TupleVariable
from torch.utils import _pytree

from autograph_torch.runtime.places import is_runtime


def _flatten(tree: Any, is_leaf: Any = None) -> Any:
    return tree, len(tree)


def _equal(self: Any, other: Any) -> Any:
    return self == other


def _unflatten(leaves: Any, treespec: Any) -> Any:
    return leaves


def _flatten_carried(tree: Any, is_leaf: Any = None) -> Any:
    return list(tree[0]), "carried"


def _unflatten_carried(leaves: Any, treespec: Any) -> Any:
    return leaves, ()


_TREE_FLATTEN = _pytree.tree_flatten.__code__
_TREE_UNFLATTEN = _pytree.tree_unflatten.__code__
_EQUAL = _pytree.TreeSpec.__eq__.__code__


def without_walking(code: types.CodeType, parent: Any, arguments: dict[str, Any]) -> types.CodeType:
    """What the tracer runs in the place of a function of pytree's, where it deals with the results of our branches."""
    if code is _TREE_FLATTEN:
        return _flattening(arguments["tree"].realize(), code) if _calls_operator(parent) else code
    if code is _TREE_UNFLATTEN:
        return _unflattening(arguments["treespec"], code)
    if code is _EQUAL and all(isinstance(one, ConstantVariable) for one in arguments.values()):
        return _equal.__code__
    return code


def _flattening(tree: Any, code: types.CodeType) -> types.CodeType:
    if _is_flat(tree, ListVariable):
        return _flatten.__code__
    parts: list[Any] = [one.realize() for one in tree.items] if type(tree) is TupleVariable else []
    is_carry = len(parts) == 2 and all(_is_flat(one, TupleVariable) for one in parts)
    return _flatten_carried.__code__ if is_carry and not parts[1].items else code


def _unflattening(treespec: Any, code: types.CodeType) -> types.CodeType:
    if not isinstance(treespec, ConstantVariable):
        return code
    return (_unflatten_carried if treespec.as_python_constant() == "carried" else _unflatten).__code__


def _calls_operator(translator: Any) -> bool:
    """Whether a frame is one of the runtime's, or that of torch.cond itself, called by one."""
    frames = (translator, getattr(translator, "parent", None))
    return any(frame is not None and is_runtime(frame.f_code.co_filename) for frame in frames)


def _is_flat(variable: Any, kind: Any) -> bool:
    return type(variable) is kind and all(type(one.realize()) is TensorVariable for one in variable.items)
