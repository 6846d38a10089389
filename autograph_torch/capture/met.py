"""A function that is not converted calls one that is, or one of a written file: then it is traced as that one would be.

    @torch.compile
    def train_step(batch):              Dynamo traces this frame, and comes to `loss` in it
        return loss(batch)

    loss = convert(...)                 what mends Dynamo, and looks for other forms, is about whole frames

So the trace ends there, and begins anew with all that (capture/compiling.py). Where that comes to nothing, and graphs
may break, Python runs the frame, and `loss` has a frame of its own.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator

from autograph_torch.capture.attempts import attempt_under_way
from autograph_torch.codeobject import is_marked
from autograph_torch.runtime.places import in_runtime_folder

_frames: list[list[types.CodeType]] = []  # those that Dynamo traces alone, each with what it has come to


class Met(Exception):
    """A frame that Dynamo traces alone has come to a converted function."""


@contextlib.contextmanager
def meeting() -> Iterator[list[types.CodeType]]:
    """While Dynamo traces a frame alone; gives the converted functions, and those of the runtime, that it comes to."""
    found: list[types.CodeType] = []
    _frames.append(found)
    try:
        yield found
    finally:
        _frames.pop()


def meet(code: types.CodeType) -> None:
    """A function is about to be inlined.

    Raises:
        Met: the frame is to be traced anew.
    """
    if _frames and attempt_under_way() is None and (is_marked(code) or in_runtime_folder(code.co_filename)):
        _frames[-1].append(code)
        raise Met
