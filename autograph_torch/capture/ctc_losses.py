"""`F.ctc_loss` with lengths that are tensors: torch does not know the size of what it keeps for the backward pass.

    loss = F.ctc_loss(log_probs, targets, input_lengths, target_lengths)

The longest target tells how much that is, so only data do ("Dynamic shape operator"). The size of the loss itself is
known. Here what is kept gets a size of its own, which nothing else depends on.

Private: op_implementations_dict, with which torch tells the sizes of results, and
ShapeEnv.ignore_fresh_unbacked_symbols. tests/capture/test_ctc_losses.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables import TorchInGraphFunctionVariable
from torch._subclasses.fake_impls import op_implementations_dict

from autograph_torch.capture.patching import patched

_FORWARD, _BACKWARD = torch.ops.aten._ctc_loss.Tensor, torch.ops.aten._ctc_loss_backward.Tensor


@contextlib.contextmanager
def ctc_losses() -> Iterator[None]:
    """While converted functions are traced."""
    called = TorchInGraphFunctionVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.value not in (torch.nn.functional.ctc_loss, torch.ctc_loss):
            return called(self, tx, args, kwargs)
        with tx.output.shape_env.ignore_fresh_unbacked_symbols():
            return called(self, tx, args, kwargs)

    with patched(TorchInGraphFunctionVariable, call_function=call_function):
        yield


def know_sizes_of_losses() -> None:
    """From now on: the bodies of operators are traced again when the graph runs."""
    op_implementations_dict.setdefault(_FORWARD, _sizes)
    op_implementations_dict.setdefault(_BACKWARD, _sizes_of_gradients)


def _sizes(mode: Any, function: Any, log_probs: torch.Tensor, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
    """Of the losses, and of what is kept: for each, each step and each place in the longest target."""
    if mode.shape_env is None:
        return NotImplemented
    steps, batch, _ = log_probs.shape
    places = mode.shape_env.create_unbacked_symint()
    torch._check(places >= 1)
    return log_probs.new_empty((batch,)), log_probs.new_empty((batch, steps, places))


def _sizes_of_gradients(
    mode: Any, function: Any, gradient: torch.Tensor, log_probs: torch.Tensor, *args: Any, **kwargs: Any
) -> torch.Tensor:
    return torch.empty_like(log_probs, memory_format=torch.contiguous_format)
