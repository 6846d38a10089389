"""`with torch.backends.cudnn.flags(enabled=False):` where there is no GPU: nothing that runs asks for these flags.

    with torch.backends.cudnn.flags(enabled=False):
        loss = F.ctc_loss(...)                          a computation on the CPU

Dynamo cannot trace the functions that read and set them. With a GPU they stay refused.

Private: TorchInGraphFunctionVariable.call_function and NullContextVariable. tests/capture/test_backend_flags.py fails
when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables import TorchInGraphFunctionVariable
from torch._dynamo.variables.ctx_manager import NullContextVariable

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def backend_flags() -> Iterator[None]:
    """While converted functions are traced."""
    called = TorchInGraphFunctionVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.value is torch.backends.cudnn.flags and not torch.cuda.is_available():
            return NullContextVariable()
        return called(self, tx, args, kwargs)

    with patched(TorchInGraphFunctionVariable, call_function=call_function):
        yield
