"""The parameters, buffers and submodules of a module may be listed after one of them was set in the trace.

    self.mask = None                    self.mask is a buffer
    self.eval()
    for name, part in self.named_modules(): ...

Dynamo stops there, because it once did not see what `Module.__setattr__` writes to the dicts of the module. It traces
that method now, and the methods that list what the module has, so both work on the same dicts.

Private: UnspecializedNNModuleVariable.is_state_mutated. tests/capture/test_written_modules.py fails clearly when torch
changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from torch._dynamo.variables import UnspecializedNNModuleVariable

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def written_modules() -> Iterator[None]:
    """While converted functions are traced."""
    never = property(lambda self: False, lambda self, value: None)
    with patched(UnspecializedNNModuleVariable, is_state_mutated=never):
        yield
