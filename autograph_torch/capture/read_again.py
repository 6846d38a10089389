"""A number that is read of a tensor again, after a write that the tensor does not count, is another one.

    a = x.item()
    x.data.add_(1)                 or torch._foreach_add_([x], 1), by which optimizers count their steps, or x.data = y
    return a, x.item()             torch takes both for one number, as long as the version of `x` is the same

Private: FakeTensorMode's `__torch_dispatch__`, item_memo. tests/capture/test_read_again.py fails clearly when torch
changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._pytree import tree_leaves

from autograph_torch.capture.graph_writes import storage_of, written_arguments
from autograph_torch.capture.patching import patched

_READ = torch.ops.aten._local_scalar_dense.default


@contextlib.contextmanager
def read_again() -> Iterator[None]:
    """While this is in force, what is written to in whatever way is read anew."""
    dispatch = FakeTensorMode.__torch_dispatch__
    read: WeakValueDictionary[int, FakeTensor] = WeakValueDictionary()

    def dispatched(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        places = _written(func, args, kwargs or {}) if read and func._schema.is_mutable else set()
        stale = [one for one in read.values() if _place(one) in places] if places else []
        result = dispatch(self, func, types, args, kwargs)
        if func is _READ and isinstance(args[0], FakeTensor):
            read[id(args[0])] = args[0]
        for tensor in stale:
            tensor.item_memo = None
        return result

    with patched(FakeTensorMode, __torch_dispatch__=dispatched):
        yield


def _written(func: Any, args: Any, kwargs: Any) -> set[int]:
    """Where the tensors lie that an operator writes to."""
    values = tree_leaves(written_arguments(func, args, kwargs))
    return {_place(value) for value in values if isinstance(value, FakeTensor)}


def _place(tensor: torch.Tensor) -> int:
    """The storage; a tensor that has none is a place of its own."""
    return storage_of(tensor) if tensor.layout == torch.strided else id(tensor)
