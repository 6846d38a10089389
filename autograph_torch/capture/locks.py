"""`with lock:` in a trace enters nothing: a graph runs when all that was traced has been done, in one piece.

    with self.lock:                  steps are counted once the graph has returned, as all attributes are written then
        self.steps += 1

Between the threads of a program the lock has held only while the function was traced, if at all; what one thread alone
sees is the same. Taken are `threading.Lock` and `threading.RLock` from outside of the trace.

Private: InstructionTranslatorBase.setup_or_before_with and NullContextVariable.
tests/capture/test_locks.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from torch._dynamo.symbolic_convert import InstructionTranslatorBase
from torch._dynamo.variables import ConstantVariable, UserDefinedObjectVariable
from torch._dynamo.variables.ctx_manager import NullContextVariable

from autograph_torch.capture.patching import patched

_LOCKS = (type(threading.Lock()), type(threading.RLock()))


class _Lock(NullContextVariable):  # type: ignore[misc]
    """A lock that is free."""

    def enter(self, tx: Any, *args: Any) -> Any:
        return ConstantVariable.create(True)


@contextlib.contextmanager
def locks() -> Iterator[None]:
    """While this is in force, locks are entered."""
    original = getattr(InstructionTranslatorBase, "setup_or_before_with", None)
    if original is None:
        yield
        return

    def setup_or_before_with(self: Any, inst: Any) -> None:
        found = self.stack[-1].realize()
        if isinstance(found, UserDefinedObjectVariable) and isinstance(found.value, _LOCKS):
            self.stack[-1] = _Lock()
        original(self, inst)

    with patched(InstructionTranslatorBase, setup_or_before_with=setup_or_before_with):
        yield
