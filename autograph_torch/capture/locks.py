"""`with lock:` in a trace enters nothing: a graph runs when all that was traced has been done, in one piece.

    with self.lock:                  steps are counted once the graph has returned, as all attributes are written then
        self.steps += 1

Between the threads of a program the lock has held only while the function was traced, if at all; what one thread alone
sees is the same. Taken are `threading.Lock` and `threading.RLock` from outside of the trace.

Private: NullContextVariable, and what `with` does (capture/entered_contexts.py).
tests/capture/test_locks.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import ConstantVariable, UserDefinedObjectVariable
from torch._dynamo.variables.ctx_manager import NullContextVariable

from autograph_torch.capture.entered_contexts import entering_instead

_LOCKS = (type(threading.Lock()), type(threading.RLock()))


class _Lock(NullContextVariable):  # type: ignore[misc]
    """A lock that is free."""

    def enter(self, tx: Any, *args: Any) -> Any:
        return ConstantVariable.create(True)


@contextlib.contextmanager
def locks() -> Iterator[None]:
    """While this is in force, locks are entered."""

    def instead(entered: Any, _: Any) -> Any:
        is_lock = isinstance(entered, UserDefinedObjectVariable) and isinstance(entered.value, _LOCKS)
        return _Lock() if is_lock else None

    with entering_instead(instead):
        yield
