"""Python's cycle collector, held back while a file or function is converted, or a function traced."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Trees and traces are many objects and few cycles, and all of them go together.

    Looking through them in between, and through all of torch with them, costs a tenth of the time of a large file, a
    third for the function of a small model, and an eighth of a trace. (torch collects at the end of each trace.)
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
