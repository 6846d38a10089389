"""For `explain`: what became of every place where a program reads a Python number from a tensor."""

from __future__ import annotations

import linecache
import re

import torch

from autograph_torch.capture.numbers import Fate, Read, postpone_reads
from autograph_torch.capture.sites import Site
from autograph_torch.runtime.tracing import is_ours

MOVED: Fate = "moved"
STAYED: Fate = "stayed"
_ORDER: tuple[Fate, ...] = ("vanished", MOVED, STAYED)

_REASONS: dict[Fate, str] = {
    "vanished": "only tensors need it",
    "moved": "read when the graph, or the loop around it, has ended",
    "stayed": "the graph needs a Python number here: a size, an index, or arithmetic that may raise",
}
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in ')
_READS = re.compile(r"\b(item|tolist|float|int|bool)\s*\(")


def reads_of(graph: torch.fx.GraphModule) -> tuple[Site, ...]:
    """The `.item()`, `float(t)`, `int(t)`, `bool(t)` and `.tolist()` of the user's; the graph is rewritten."""
    fates: dict[tuple[str, int], Fate] = {}
    for read in postpone_reads(graph):
        place = _place(read)
        if place is not None and _ORDER.index(read.fate) >= _ORDER.index(fates.get(place, "vanished")):
            fates[place] = read.fate
    return tuple(Site(*place, "number", "tensor", fate, _REASONS[fate]) for place, fate in fates.items())


def _place(read: Read) -> tuple[str, int] | None:
    """The user's line, when it is one that reads a number (and not one for which the runtime does)."""
    frames = _FRAME.findall(read.node.meta.get("stack_trace") or "")
    own = [(filename, int(line)) for filename, line in frames if not is_ours(filename)]
    return own[-1] if own and _READS.search(linecache.getline(*own[-1])) else None
