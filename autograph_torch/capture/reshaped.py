"""Tensors whose shape a method changes in place have that shape from then on, by every name.

    y.squeeze_(1)                          Dynamo (torch 2.13) goes on with the shape that y had before:
    return y.sum(y.ndim - 1), y.shape      the results are silently wrong
    y.detach_()                            y.requires_grad is still True
    row = y[0]; y.add_(w)                  row.requires_grad is still False

What Dynamo remembers of a tensor is compared with the tensor that it traces with, wherever it is asked.

In the body of a branch or loop a tensor from around it keeps its shape, or is refused: what stands behind the body is
traced for one shape. `detach_` is refused there: what stands in for the tensor would be detached, and not the tensor.

Private: TensorVariable's `ndim`, `_size`, `stride`, `requires_grad` and `synchronize_attributes`; how it gets
attributes, its `call_method` and `unpack_var_sequence`.
tests/capture/test_reshaped.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables.tensor import TensorVariable

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.refusal import raise_refusal

_RESHAPING = frozenset("squeeze_ unsqueeze_ transpose_ t_ swapaxes_ swapdims_ as_strided_".split())


@contextlib.contextmanager
def reshaped_tensors() -> Iterator[None]:
    """While this is in force, Dynamo knows the shape that a tensor has by now."""
    get, call = getattr(TensorVariable, GET_ATTRIBUTE), TensorVariable.call_method
    unpack = TensorVariable.unpack_var_sequence

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        follow_tensor(self, tx)
        return get(self, tx, name)

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        follow_tensor(self, tx)
        if name in _RESHAPING and _is_from_around(self, tx):
            raise_refusal("AG206", f"`{name}` in a branch or loop, of a tensor from around it", _ADVICE)
        if name == "detach_" and tx.output.current_tracer.parent is not None and _may_record(self):
            raise_refusal("AG206", "`detach_` in a branch or loop on data", "bind a new name: `y = x.detach()`")
        return call(self, tx, name, args, kwargs)

    def unpack_var_sequence(self: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        follow_tensor(self, tx)
        return unpack(self, tx, *args, **kwargs)

    following = {GET_ATTRIBUTE: get_attribute, "call_method": call_method, "unpack_var_sequence": unpack_var_sequence}
    with patched(TensorVariable, **following):
        yield


_ADVICE = "bind a new name: `y = x.squeeze(1)`"


def follow_tensor(variable: Any, tx: Any) -> None:
    """Let Dynamo remember the shape that a tensor has, and whether its gradient is recorded."""
    fake = variable.proxy.node.meta.get("example_value")
    if isinstance(fake, torch.Tensor) and _differs(variable, fake):
        variable.synchronize_attributes(tx)


def _differs(variable: Any, fake: Any) -> bool:
    if variable.ndim != fake.ndim or variable.requires_grad != fake.requires_grad:
        return True
    if variable._size is None or variable.stride is None:  # a size is not known yet, or a tensor is sparse
        return False
    return (variable._size, variable.stride) != (tuple(fake.shape), fake.stride())


def _may_record(variable: Any) -> bool:
    """Whether a tensor may have a gradient, also where none is recorded: what stands for it inside has none there."""
    fake = variable.proxy.node.meta.get("example_value")
    return not torch.is_grad_enabled() or bool(isinstance(fake, torch.Tensor) and fake.requires_grad)


def _is_from_around(variable: Any, tx: Any) -> bool:
    tracer = tx.output.current_tracer
    return tracer.parent is not None and variable.proxy.tracer is not tracer
