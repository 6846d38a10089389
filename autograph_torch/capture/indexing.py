"""Indices that depend on data: what torch reads from a tensor of no dimension, Dynamo has to know while it traces.

    x[i]          i a tensor of no dimension, or a NumPy one       x.select(0, i.item())
    x[..., n]     n a number that depends on data                  x.select(-1, n)
    x[m]          m a truth value as a tensor of no dimension      x.unsqueeze(0)[m.reshape(1)]
    x[[a, b]]     a list of numbers that depend on data            x[tensor of them]
    x[a:b, c:d]   slices with bounds that depend on data           x[a:b][:, c:d]

torch's tracer forgets where a slice begins when another index of the same call follows it ("Pending unbacked symbols").
The same for assignments: what stands on the right is a view. Everything else is indexed as it was.

Private names of Dynamo: TensorVariable.method___getitem__ and method___setitem__, and the way in which BuiltinVariable
handles `operator.getitem` of tensors (its table of handlers holds bound methods, so it is emptied).
tests/capture/test_indexing.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable, ListVariable, SliceVariable, SymNodeVariable, TupleVariable
from torch._dynamo.variables.builder import SourcelessBuilder
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.tensor import TensorVariable
from torch.fx.experimental.symbolic_shapes import statically_known_true

from autograph_torch.capture.dynamo_names import synchronize
from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def indices_from_data() -> Iterator[None]:
    """While this is in force, indices that depend on data are taken."""
    read, write = TensorVariable.method___getitem__, TensorVariable.method___setitem__

    def getitem(self: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        place = _taken_apart(tx, self, args[0])
        if place is None:
            return read(self, tx, *args, **kwargs)
        return read(place.view, tx, TupleVariable(place.rest)) if place.rest else place.view

    insert = BuiltinVariable._handle_insert_op_in_graph

    def insert_in_graph(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is operator.getitem and isinstance(args[0], TensorVariable):
            place = _taken_apart(tx, args[0], args[1])
            if place is not None:
                return read(place.view, tx, TupleVariable(place.rest)) if place.rest else place.view
        return insert(self, tx, args, kwargs)

    def setitem(self: Any, tx: Any, key: Any, value: Any) -> Any:
        place = _taken_apart(tx, self, key)
        if place is None:
            return write(self, tx, key, value)
        before = self._get_fake_version()
        done = write(place.view, tx, TupleVariable(place.rest or [ConstantVariable.create(...)]), value)
        synchronize(self, tx, before, value.is_tensor())
        return done

    with (
        patched(TensorVariable, method___getitem__=getitem, method___setitem__=setitem),
        patched(BuiltinVariable, _handle_insert_op_in_graph=insert_in_graph, call_function_handler_cache={}),
    ):
        yield


_WHOLE = SliceVariable([ConstantVariable.create(None)] * 3)


@dataclass
class _Place:
    """A view of a tensor, and the indices that are still to be applied to it."""

    view: Any
    rest: list[Any] = field(default_factory=list)


def _taken_apart(tx: Any, tensor: Any, key: Any) -> _Place | None:
    """The place that `tensor[key]` names; None when Dynamo can index by itself."""
    items = list(key.items) if isinstance(key, TupleVariable) else [key]
    if items and _is_slice_of_data(items[0]) and _has_nothing(tensor):  # torch has symbols for it, and loses them
        items[0] = _WHOLE
        return _Place(tensor, items)
    if _is_indexed_by_dynamo(items):
        return None
    found = [_dimensions(item) for item in items]
    used = [count for count in found if count is not None]
    if tensor.ndim is None or len(used) < len(items):
        return None
    place, dim = _Place(tensor), 0
    for item, count in zip(items, used, strict=True):
        value = _value(item)
        if isinstance(item, SymNodeVariable) or (value is not None and value.ndim == 0 and value.dtype != torch.bool):
            number = item if isinstance(item, SymNodeVariable) else item.call_method(tx, "item", [], {})
            place.view = place.view.call_method(tx, "select", [ConstantVariable.create(dim), number], {})
        elif value is not None and value.ndim == 0:
            place.view = place.view.call_method(tx, "unsqueeze", [ConstantVariable.create(dim)], {})
            place.rest.append(item.call_method(tx, "reshape", [ConstantVariable.create(1)], {}))
            dim += 1
        elif _is_slice_of_data(item):
            whole = [_WHOLE] * dim
            place.view = place.view.call_method(tx, "__getitem__", [TupleVariable([*whole, item])], {})
            place.rest.append(_WHOLE)
            dim += 1
        else:
            place.rest.append(_as_tensor(tx, item) if _is_list_of_numbers(item) else item)
            dim += count if count >= 0 else tensor.ndim - sum(n for n in used if n >= 0)
    return place


def _is_indexed_by_dynamo(items: list[Any]) -> bool:
    from_data = [item for item in items if _depends_on_data(item)]
    if len(from_data) != 1:
        return not from_data
    others = [item for item in items if item is not from_data[0]]
    if isinstance(from_data[0], SymNodeVariable):
        return not others
    return _is_slice_of_data(from_data[0]) and all(map(_begins_at_the_first, others))


def _has_nothing(tensor: Any) -> bool:
    """Whether it is known that the first dimension has no element."""
    sizes = _value(tensor).shape
    return len(sizes) > 0 and statically_known_true(sizes[0] == 0)


def _begins_at_the_first(item: Any) -> bool:
    """Whether what an index leaves begins where the tensor does."""
    first = item.items[0].realize() if isinstance(item, SliceVariable) else item
    if not isinstance(first, ConstantVariable):
        return False
    value = first.as_python_constant()
    return value is None or value is ... or (type(value) is int and value == 0)


def _depends_on_data(item: Any) -> bool:
    if isinstance(item, SymNodeVariable) or _is_list_of_numbers(item) or _is_slice_of_data(item):
        return True
    value = _value(item)
    return value is not None and value.ndim == 0


def _is_slice_of_data(item: Any) -> bool:
    bounds = item.items if isinstance(item, SliceVariable) else ()
    return any(isinstance(bound.realize(), (SymNodeVariable, TensorVariable)) for bound in bounds)


def _dimensions(item: Any) -> int | None:
    """How many dimensions an index takes up: -1 for `...`, None when that is not known."""
    value = _value(item)
    if value is not None:
        whole = value.dtype not in (torch.bool, torch.uint8)
        return 1 if whole else value.ndim
    if isinstance(item, (SymNodeVariable, SliceVariable)) or _is_list_of_numbers(item):
        return 1
    if isinstance(item, ListVariable) and item.is_python_constant():
        return _dimensions_of_list(item.as_python_constant())
    if isinstance(item, ConstantVariable):
        constant = item.as_python_constant()
        if constant is None or constant is ...:
            return 0 if constant is None else -1
        return 1 if type(constant) is int else None
    return None


def _value(item: Any) -> Any:
    """The tensor that an index is, as the tracer knows it."""
    if not isinstance(item, TensorVariable):
        return None
    value = item.as_proxy().node.meta["example_value"]
    value = getattr(value, "tensor", value)
    return value if isinstance(value, torch.Tensor) else None


def _is_list_of_numbers(item: Any) -> bool:
    return isinstance(item, ListVariable) and any(isinstance(one, SymNodeVariable) for one in item.items)


def _dimensions_of_list(constant: list[Any]) -> int | None:
    """`[0, 2]` and `[[0, 1], [2, 0]]` take up one dimension, truth values as many as they have."""
    try:
        value = torch.tensor(constant)
    except (TypeError, ValueError):  # not of numbers
        return None
    return value.ndim if value.dtype == torch.bool else 1


def _as_tensor(tx: Any, item: Any) -> Any:
    return SourcelessBuilder.create(tx, torch.tensor).call_function(tx, [item], {})
