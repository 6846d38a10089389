"""What `with` enters in a trace, in the place of what stands there; None leaves it as it is.

    with self.lock: ...            capture/locks.py: nothing
    with self.scaler as s: ...     capture/entered_objects.py: by the methods of the object

Private: InstructionTranslatorBase.setup_or_before_with.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo.symbolic_convert import InstructionTranslatorBase

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def entering_instead(instead: Callable[[Any, Any], Any]) -> Iterator[None]:
    """While this is in force, a block enters what `instead(variable, translator)` gives."""
    original = getattr(InstructionTranslatorBase, "setup_or_before_with", None)
    if original is None:
        yield
        return

    def setup_or_before_with(self: Any, inst: Any) -> None:
        found = instead(self.stack[-1].realize(), self)
        if found is not None:
            self.stack[-1] = found
        original(self, inst)

    with patched(InstructionTranslatorBase, setup_or_before_with=setup_or_before_with):
        yield
