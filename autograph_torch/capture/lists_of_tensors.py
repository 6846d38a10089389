"""`list(y.size()) == [n, 3]`, where `n` is a tensor of no dimension: the elements are compared as numbers.

torch compares such lists as numbers of the graph, but takes the tensor that comes of a tensor and a number for one; and
`!=` is a question that it asks at once, where `not` of the answer to `==` would do.

Private: `generic_richcompare_bool` (torch 2.13), which compares two elements, and `_seq_richcompare`, which compares
two lists or tuples. tests/programs/containers.py has programs that fail when torch changes it.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, TensorVariable
from torch._dynamo.variables.lists import BaseListVariable

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def lists_of_tensors() -> Iterator[None]:
    """While this is in force, a tensor in a list is compared with a number as Python does it."""
    if not hasattr(BaseListVariable, "_seq_richcompare"):  # torch 2.11 and 2.12
        yield
        return
    object_protocol: Any = importlib.import_module("torch._dynamo.variables.object_protocol")
    compare, of_sequences = object_protocol.generic_richcompare_bool, BaseListVariable._seq_richcompare

    def as_numbers(tx: Any, left: Any, right: Any, op: str) -> Any:
        tensor, number = (left, right) if isinstance(left.realize(), TensorVariable) else (right, left)
        tensor, number = tensor.realize(), number.realize()
        if op != "__eq__" or not _is_number(number) or not isinstance(tensor, TensorVariable) or tensor.ndim != 0:
            return compare(tx, left, right, op)
        return tensor.call_method(tx, "__eq__", [number], {}).call_method(tx, "item", [], {})

    def of_numbers(self: Any, tx: Any, other: Any, op: str, accepted_type: type) -> Any:
        if op != "__ne__":
            return of_sequences(self, tx, other, op, accepted_type)
        equal = of_sequences(self, tx, other, "__eq__", accepted_type)
        if isinstance(equal, SymNodeVariable):
            proxy = tx.output.create_proxy("call_function", torch.sym_not, (equal.as_proxy(),), {})
            return SymNodeVariable.create(tx, proxy)
        known = equal.as_python_constant()
        return equal if known is NotImplemented else ConstantVariable.create(not known)

    with (
        patched(object_protocol, generic_richcompare_bool=as_numbers),
        patched(BaseListVariable, _seq_richcompare=of_numbers),
    ):
        yield


def _is_number(variable: Any) -> bool:
    if isinstance(variable, ConstantVariable):
        return isinstance(variable.value, (bool, int, float))
    return isinstance(variable, SymNodeVariable)
