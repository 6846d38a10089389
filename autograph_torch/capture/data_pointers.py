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
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.capture.assumptions import in_body
from autograph_torch.capture.graph_writes import storage_at
from autograph_torch.capture.patching import method_of, patched

_KIND = getattr(variables, "DataPtrVariable", None)
_COMPARE = "richcompare_impl"
_INPUTS = ("placeholder", "get_attr")


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
    if not (_is_placed(begin) and _is_placed(end)):
        return None
    if _is_empty(begin) or _is_empty(end):  # the pointer of a tensor without elements is 0
        return _is_empty(begin) and _is_empty(end)
    first, second = (_begin(node) for node in nodes)
    if first is not second and first.op in _INPUTS and second.op in _INPUTS:
        return None  # they may share memory in the next call
    return storage_at(nodes[0]) == storage_at(nodes[1]) and bool(_offset(begin) == _offset(end))


def _node(tensor: TensorVariable) -> Node:
    return tensor.as_proxy().node  # type: ignore[no-any-return]


def _is_placed(fake: torch.Tensor) -> bool:
    """Whether the trace knows how many elements a tensor has, and where they begin; sizes of inputs it may guard."""
    return not has_free_unbacked_symbols((fake.numel(), fake.storage_offset()))


def _is_empty(fake: torch.Tensor) -> bool:
    return bool(fake.numel() == 0)


def _offset(fake: torch.Tensor) -> int | torch.SymInt:
    return fake.storage_offset() * fake.element_size()


def _begin(node: Node) -> Node:
    """The input, or the result of an operator, that a tensor is a view of."""
    while node.op not in _INPUTS:
        before = next((one for one in node.all_input_nodes if storage_at(one) == storage_at(node)), None)
        if before is None:
            return node
        node = before
    return node
