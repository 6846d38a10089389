"""Tensors that are filled with a tensor's value, by a function.

    torch.full((2,), counts.sum())      torch.int64, of the number; Dynamo makes an empty tensor of the default type
    torch.full_like(x, x[0])            asks for the number, which nothing defines afterwards: an empty tensor, filled

Private: TorchInGraphFunctionVariable.call_function, example values of nodes.
tests/capture/test_filled_tensors.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable

from autograph_torch.capture.patching import patched
from autograph_torch.capture.settling import refuse_question_of_type


@contextlib.contextmanager
def filled_tensors() -> Iterator[None]:
    """While this is in force, such calls say their type."""
    call = TorchInGraphFunctionVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        value = args[1] if len(args) > 1 else kwargs.get("fill_value")
        if self.value not in (torch.full, torch.full_like) or value is None or not value.is_tensor():
            return call(self, tx, args, kwargs)
        if self.value is torch.full_like:
            options = {key: one for key, one in kwargs.items() if key != "fill_value"}
            empty = TorchInGraphFunctionVariable(torch.empty_like).call_function(tx, args[:1], options)
            return empty.call_method(tx, "fill_", [value], {})
        if "dtype" not in kwargs:
            refuse_question_of_type(value, tx)
            kwargs = {**kwargs, "dtype": VariableTracker.build(tx, _type_of_number(value))}
        return call(self, tx, args, kwargs)

    with patched(TorchInGraphFunctionVariable, call_function=call_function):
        yield


def _type_of_number(value: Any) -> torch.dtype:
    """Of the tensor that torch makes of `value.item()`."""
    kind = value.as_proxy().node.meta["example_value"].dtype
    one = torch.ones((), dtype=kind, device="cpu").item()
    return torch.full((), one, device="cpu").dtype
