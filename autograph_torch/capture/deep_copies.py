"""copy.deepcopy of tensors that record no gradient: torch.compile refuses it.

    boxes = copy.deepcopy(boxes)              boxes = boxes.clone()
    copy.deepcopy([x, x[0]])                  refused: in the copy, too, the one is a view of the other

The same for tensors in lists, dicts and objects, which `copy.deepcopy` walks through. Refused stay tensors that are not
laid out row by row, parameters, and what is left of a tensor beside its values: a gradient.

Private: TensorVariable.call_method. tests/capture/test_deep_copies.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables.tensor import TensorVariable

from autograph_torch.capture.graph_writes import storage_of
from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def deep_copies() -> Iterator[None]:
    """While this is in force, such copies are made."""
    called = TensorVariable.call_method
    memories: dict[Any, set[int]] = {}  # of the tensors that one call of copy.deepcopy has copied, by its memo

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name != "__deepcopy__" or not args or not _is_plain(self):
            return called(self, tx, name, args, kwargs)
        copied, memory = memories.setdefault(args[0].realize(), set()), storage_of(_value(self))
        if memory in copied:
            return called(self, tx, name, args, kwargs)
        copied.add(memory)
        return called(self, tx, "clone", [], {})

    with patched(TensorVariable, call_method=call_method):
        yield


def _is_plain(variable: Any) -> bool:
    tensor = _value(variable)
    plain = variable.python_type() is torch.Tensor and tensor.layout == torch.strided
    return plain and not tensor.requires_grad and tensor.grad is None and tensor.is_contiguous()


def _value(variable: Any) -> Any:
    return variable.as_proxy().node.meta["example_value"]
