"""Whether two tensors begin at one place in memory: `first.data_ptr() == x.data_ptr()`.

torch.compile answers where both are one tensor. Here the memory that the tensors of the trace lie in answers for
views, copies and results of operators, too. What only a call can tell is refused: whether two arguments share memory,
and, behind a branch or loop on data, whether eager Python has gone on with the tensor from before it.

Private: DataPtrVariable and its `richcompare_impl` (torch 2.13). tests/capture/test_data_pointers.py fails clearly when
torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo import variables
from torch._dynamo.variables import ConstantVariable, TensorVariable
from torch._ops import HigherOrderOperator
from torch.fx import Node

from autograph_torch.capture.assumptions import in_body
from autograph_torch.capture.graph_writes import storage_at
from autograph_torch.capture.patching import method_of, patched

_KIND = getattr(variables, "DataPtrVariable", None)
_COMPARE = "richcompare_impl"


@contextlib.contextmanager
def data_pointers() -> Iterator[None]:
    """While this is in force, such questions are answered."""
    if _KIND is None:
        yield
        return
    if _COMPARE not in vars(_KIND):
        with patched(_KIND, call_method=_comparing(method_of(_KIND, "call_method"))):
            yield
        return
    original = getattr(_KIND, _COMPARE)

    def compare(self: Any, tx: Any, other: Any, op: str) -> Any:
        found = _is_one(tx, self, other) if op in ("__eq__", "__ne__") else None
        return original(self, tx, other, op) if found is None else ConstantVariable.create(found == (op == "__eq__"))

    with patched(_KIND, **{_COMPARE: compare}):
        yield


def _comparing(called: Callable[..., Any]) -> Callable[..., Any]:
    """The same with torch 2.11, where comparisons are methods."""

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        found = _is_one(tx, self, args[0].realize()) if name in ("__eq__", "__ne__") and len(args) == 1 else None
        if found is None:
            return called(self, tx, name, args, kwargs)
        return ConstantVariable.create(found == (name == "__eq__"))

    return call_method


def _is_one(tx: Any, one: Any, other: Any) -> bool | None:
    """Whether both pointers are the same; None where nobody can tell."""
    if type(other) is not _KIND or in_body() or tx.output.current_tracer.parent is not None:
        return None
    nodes = [_node(pointer.from_tensor) for pointer in (one, other)]
    has_bodies = any(isinstance(node.target, HigherOrderOperator) for node in tx.output.graph.nodes)
    if has_bodies or None in map(storage_at, nodes):
        return None
    begin, end = (node.meta["example_value"] for node in nodes)
    if not (_has_elements(begin) and _has_elements(end)):
        return None
    given, also_given = (_arguments(tx, node) for node in nodes)
    if given and also_given and (len(given | also_given) > 1):
        return None  # they may share memory in the next call
    return storage_at(nodes[0]) == storage_at(nodes[1]) and _offset(begin) == _offset(end)


def _node(tensor: TensorVariable) -> Node:
    return tensor.as_proxy().node  # type: ignore[no-any-return]


def _has_elements(fake: torch.Tensor) -> bool:
    return type(fake.numel()) is int and fake.numel() > 0 and type(fake.storage_offset()) is int


def _offset(fake: torch.Tensor) -> int:
    return int(fake.storage_offset()) * fake.element_size()


def _arguments(tx: Any, node: Node) -> set[Node]:
    """The inputs of the graph that lie in the memory of a node."""
    inputs = (one for one in tx.output.graph.nodes if one.op in ("placeholder", "get_attr"))
    return {one for one in inputs if storage_at(one) == storage_at(node)}
