"""`list(y.size()) == [n, 3]`, where `n` is a tensor of no dimension: the elements are compared as numbers.

torch compares such lists as numbers of the graph, but takes the tensor that comes of a tensor and a number for one.

Private: `generic_richcompare_bool` (torch 2.13), which compares two elements. tests/programs/containers.py has programs
that fail when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import ConstantVariable, SymNodeVariable, TensorVariable


@contextlib.contextmanager
def lists_of_tensors() -> Iterator[None]:
    """While this is in force, a tensor in a list is compared with a number as Python does it."""
    try:
        from torch._dynamo.variables import object_protocol
    except ImportError:  # torch 2.11
        yield
        return
    compare = object_protocol.generic_richcompare_bool

    def as_numbers(tx: Any, left: Any, right: Any, op: str) -> Any:
        tensor, number = (left, right) if isinstance(left.realize(), TensorVariable) else (right, left)
        tensor, number = tensor.realize(), number.realize()
        if op != "__eq__" or not _is_number(number) or not isinstance(tensor, TensorVariable) or tensor.ndim != 0:
            return compare(tx, left, right, op)
        return tensor.call_method(tx, "__eq__", [number], {}).call_method(tx, "item", [], {})

    object_protocol.generic_richcompare_bool = as_numbers  # type: ignore[assignment]
    try:
        yield
    finally:
        object_protocol.generic_richcompare_bool = compare


def _is_number(variable: Any) -> bool:
    if isinstance(variable, ConstantVariable):
        return isinstance(variable.value, (bool, int, float))
    return isinstance(variable, SymNodeVariable)
