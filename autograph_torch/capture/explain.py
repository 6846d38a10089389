"""`explain`: graphs and breaks before and after conversion, and what became of every branch and loop."""

from __future__ import annotations

import copy
import io
import os
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text
from torch._dynamo.exc import TorchDynamoException
from torch.utils._pytree import tree_leaves

from autograph_torch.capture.export import Capture, capture
from autograph_torch.capture.originals import entry_function, original_of
from autograph_torch.capture.policy import may_enter
from autograph_torch.capture.reads import MOVED, STAYED, reads_of
from autograph_torch.capture.sites import Site, sites_of
from autograph_torch.codeobject import is_marked
from autograph_torch.decorator import convert
from autograph_torch.diagnostics import CaptureError
from autograph_torch.runtime.tracing import SiteRecorder

_WIDTH = 120
_COLUMNS = ("place", "construct", "predicate", "became", "reason")


@dataclass(frozen=True)
class Explanation:
    """What torch makes of a program without and with conversion; printing it gives a table."""

    name: str
    graphs_before: int
    breaks_before: int
    break_reasons: tuple[str, ...]
    graphs_after: int
    breaks_after: int
    sites: tuple[Site, ...]
    waits_before: int = 0
    waits_after: int = 0
    error: CaptureError | None = None

    def __str__(self) -> str:
        text = io.StringIO()
        Console(file=text, width=_WIDTH, color_system=None, force_terminal=False, force_jupyter=False).print(self)
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    def __rich__(self) -> RenderableType:
        parts: list[RenderableType] = [self._counts()]
        if self.sites:
            parts.append(self._places())
        if self.error is not None:
            parts.append(Text(f"not captured:\n{self.error.diagnostic.render()}"))
        return Group(*parts)

    def _counts(self) -> Table:
        table = Table(title=self.name, title_justify="left")
        for column in ("", "graphs", "breaks", "host waits", "why it breaks"):
            table.add_column(column, overflow="fold")
        reasons = "\n".join(self.break_reasons)
        before = (self.graphs_before, self.breaks_before, self.waits_before)
        after = (self.graphs_after, self.breaks_after, self.waits_after)
        table.add_row("torch.compile", *map(str, before), reasons)
        table.add_row("autograph", *map(str, after), "")
        return table

    def _places(self) -> Table:
        table = Table()
        for column in _COLUMNS:
            table.add_column(column, overflow="fold")
        for site in self.sites:
            place = f"{os.path.basename(site.file)}:{site.line}"
            table.add_row(place, site.construct, site.predicate, site.outcome, site.reason)
        return table


def explain(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Explanation:
    """Compare what torch captures of a program before and after conversion.

    The original runs once, on copies of the module and the arguments; the converted one is traced and not run. torch
    forgets what the process has compiled so far (`torch._dynamo.explain` resets it).

    Args:
        fn: a function, method, nn.Module or other callable, converted or not.
        args, kwargs: arguments to call it with; they stay as they are.

    Returns:
        The counts; every branch and loop of the functions reached; every place where a number is read from a tensor.
        Host waits count places where Python, or the code of the graph, waits for a value: tests and numbers. A failed
        capture is its `error`.

    Raises:
        SourceError: AG302, the source of `fn` cannot be found.
    """
    original = original_of(fn)
    converted = convert(original, refuse_builtins=True)
    graphs, breaks, reasons = _before(original, args, kwargs)
    captured, error = Capture(), None
    with SiteRecorder() as records:
        try:
            captured = capture(converted, args, kwargs)
        except CaptureError as refused:
            error = refused
    reads = reads_of(captured.graph) if captured.graph is not None else ()
    staged = len({record[:3] for record in records})
    sites = sites_of(_entered(original, captured), records, failed=error is not None)
    return Explanation(
        name=getattr(original, "__qualname__", type(original).__name__),
        graphs_before=graphs,
        breaks_before=breaks,
        break_reasons=reasons,
        graphs_after=int(captured.graph is not None),
        breaks_after=0,
        sites=_in_order((*sites, *reads)),
        waits_before=len(reads) + staged,
        waits_after=staged + sum(s.outcome == STAYED for s in reads) + any(s.outcome == MOVED for s in reads),
        error=error,
    )


def _in_order(sites: tuple[Site, ...]) -> tuple[Site, ...]:
    """By line; files in the order in which they come up."""
    files = [site.file for site in sites]
    return tuple(sorted(sites, key=lambda site: (files.index(site.file), site.line)))


def _entered(original: Callable[..., Any], captured: Capture) -> list[types.CodeType]:
    """The code of the user's functions that the trace entered; at least the first one, also when it failed."""
    entry = entry_function(original)
    reached = [code for code in captured.codes if is_marked(code) and may_enter(code)]
    return [entry.__code__, *reached] if entry else reached


def _before(
    original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[int, int, tuple[str, ...]]:
    """Graphs, breaks and their reasons as torch counts them for the program as it was written."""
    fn, own_args, own_kwargs = _copied((original, args, dict(kwargs)))
    try:
        found = torch._dynamo.explain(fn)(*own_args, **own_kwargs)
    except TorchDynamoException as error:
        return 0, 0, (str(error).strip().partition("\n")[0],)
    reasons = tuple(dict.fromkeys(map(_reason, found.break_reasons)))
    # torch counts graphs less one, and so leaves out a break with no graph behind it.
    return found.graph_count, max(found.graph_break_count, len(reasons)), reasons


def _reason(found: Any) -> str:
    """`file:line: why`, in one line."""
    why = found.reason.strip().partition("\n")[0]
    if why.startswith("generic_jump"):
        why = "Data-dependent branching"
    if not found.user_stack:
        return why
    frame = found.user_stack[-1]
    return f"{os.path.basename(frame.filename)}:{frame.lineno}: {why}"


def _copied(value: Any) -> Any:
    """A deep copy, results of autograd included; the value itself if something in it cannot be copied."""
    memo: dict[int, Any] = {}
    for leaf in tree_leaves(value):
        if isinstance(leaf, torch.Tensor) and not leaf.is_leaf:
            memo[id(leaf)] = leaf.detach().clone().requires_grad_(leaf.requires_grad)
    try:
        return copy.deepcopy(value, memo)
    except Exception:
        return value
