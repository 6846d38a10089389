"""Where a node of the graph comes from: the user's lines, and not those of this package that made it.

    File "train.py", line 7, in step            File "train.py", line 7, in step
      if x.sum() > 0:                             if x.sum() > 0:
    File ".../runtime/branch.py", line 92
    ... (a dozen more)

Most of the nodes in a body would have more lines of ours than of the user's, and to write them down, again for every
node, is a tenth of the time of a trace.

Private: SubgraphTracer._maybe_preserve_original_meta, which is asked for each node right before it gets its lines, and
frame_summary and is_co_filename_from_nn_modules of the translators.
tests/capture/test_stack_traces.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import functools
import traceback
import types
from collections.abc import Iterator
from typing import Any

from torch._dynamo.output_graph import SubgraphTracer
from torch.fx.experimental.symbolic_shapes import uninteresting_files

from autograph_torch.capture.patching import patched
from autograph_torch.runtime.tracing import is_ours

_Place = tuple[int, int, Any]  # a code object by its id: equal ones may be of two files


@contextlib.contextmanager
def stack_traces() -> Iterator[None]:
    """While this is in force, the nodes that a trace makes know the user's lines alone."""
    preserve: Any = SubgraphTracer._maybe_preserve_original_meta
    texts: dict[_Place, tuple[types.CodeType, str]] = {}

    @functools.wraps(preserve)
    def preserve_and_place(self: Any, tx: Any, node: Any) -> None:
        preserve(self, tx, node)
        if "stack_trace" not in node.meta:
            lines = _lines_of_user(tx, texts)
            if lines:
                node.meta["stack_trace"] = lines

    with patched(SubgraphTracer, _maybe_preserve_original_meta=preserve_and_place):
        yield


def _lines_of_user(tx: Any, texts: dict[_Place, tuple[types.CodeType, str]]) -> str:
    """The frames under translation that are the user's, the innermost last, as a traceback shows them."""
    found: list[str] = []
    while tx is not None:
        place = (id(tx.f_code), tx.lineno, tx.current_instruction.positions)
        if place not in texts:
            texts[place] = (tx.f_code, _text(tx))
        found.append(texts[place][1])
        tx = getattr(tx, "parent", None)
    return "".join(reversed(found))


def _text(tx: Any) -> str:
    """One frame; nothing where it is not the user's."""
    filename = tx.f_code.co_filename
    if tx.is_co_filename_from_nn_modules() or filename in uninteresting_files() or is_ours(filename):
        return ""
    return "".join(traceback.format_list([tx.frame_summary()]))
