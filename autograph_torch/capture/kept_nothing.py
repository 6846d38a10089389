"""A gradient may go a second time through steps that have kept nothing for it.

    for batch in xs.chunk(4):                   `chunk` keeps no tensor for its gradient
        model(batch).mean().backward()          eager's second call goes through it again

Dynamo (torch 2.13) takes every step that a gradient has gone through for one that autograd has forgotten, and refuses a
second gradient. Autograd forgets the tensors that it has saved, and complains where it needs them.

Private: OutputGraph.autograd_grad_consumed_grad_fns, which torch 2.11 does not have; the names of steps, and of what
they have saved. tests/capture/test_kept_nothing.py shows what torch does without this, and fails clearly when it
changes.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from torch._dynamo.output_graph import OutputGraph

from autograph_torch.capture.patching import method_of, patched

_CONSUMED = "autograd_grad_consumed_grad_fns"
_BUILT_IN = re.compile(r"Backward\d+")  # of torch's own functions; others may keep what nobody sees
_SAVED = "_raw_saved_"


class _Forgotten(set[Any]):
    """The steps that autograd has forgotten; those that had nothing to forget are left out."""

    def update(self, *others: Iterable[Any]) -> None:
        super().update(*({step for step in steps if _keeps(step)} for steps in others))


@contextlib.contextmanager
def kept_nothing() -> Iterator[None]:
    """While this is in force, it may."""
    original = method_of(OutputGraph, "__init__")

    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if hasattr(self, _CONSUMED):
            setattr(self, _CONSUMED, _Forgotten())

    with patched(OutputGraph, __init__=made):
        yield


def _keeps(step: Any) -> bool:
    """Whether a step of autograd may need a tensor that it has saved."""
    if not _BUILT_IN.search(type(step).__name__):
        return True
    return any(name.startswith(_SAVED) for name in dir(step))
