"""A setting of the whole process is not changed by a branch or loop on data: it would be while that is traced.

    if p:
        torch.set_default_dtype(torch.float64)         what follows in the trace would be of it, taken or not
        torch.backends.cudnn.benchmark = True          set where tracing comes by: `torch._C._set_cudnn_benchmark(True)`

        torch.set_grad_enabled(True)                   (not in a `with`)

Such functions of torch are known by what all of them are: called `set_...` or the like, of constants alone. That is
refused in a body, and followed on one path. So is a body that leaves the mode of gradients as another one.

    torch.set_autocast_enabled("cpu", True)            by hand: Dynamo (torch 2.13) forgets it behind the graph

Private: TorchInGraphFunctionVariable.call_function, higher_order_ops.speculate_subgraph.
tests/capture/test_process_settings.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables import TorchInGraphFunctionVariable, higher_order_ops

from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import raise_refusal

_SETS = re.compile(r"_*(set|unset|use|enable|disable|allow|preferred)_(?!.*(grad|view_replay|tracing_state))")
_FORGOTTEN = (torch.set_autocast_enabled, torch.set_autocast_cache_enabled)
_ADVICE = "set it around the compiled function"


@contextlib.contextmanager
def process_settings() -> Iterator[None]:
    """While this is in force, settings are changed outside of bodies only."""
    called = TorchInGraphFunctionVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        name = getattr(self.value, "__name__", "")
        given = (*args, *kwargs.values())
        if _SETS.match(name) and given and all(one.is_python_constant() for one in given):
            if tracing.in_a_body():
                _refuse(name)
            if self.value in _FORGOTTEN:
                advice = "write `with torch.autocast(...):`"
                raise_refusal("AG320", f"`{name}` of a compiled function is forgotten when it returns", advice)
        return called(self, tx, args, kwargs)

    speculate = higher_order_ops.speculate_subgraph

    def speculate_subgraph(*args: Any, **kwargs: Any) -> Any:
        before = torch.is_grad_enabled()
        found = speculate(*args, **kwargs)
        if torch.is_grad_enabled() is not before:
            _refuse("set_grad_enabled")
        return found

    with (
        patched(TorchInGraphFunctionVariable, call_function=call_function),
        patched(higher_order_ops, speculate_subgraph=speculate_subgraph),
    ):
        yield


def _refuse(name: str) -> None:
    raise_refusal("AG320", f"`{name}` in a branch or loop sets what counts for the whole process", _ADVICE)
