"""`autograph-torch explain`: every place that depends on tensors, what it would become, or why it is left alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from autograph_torch.cli import review
from autograph_torch.cli.review import Result
from autograph_torch.diagnostics import Diagnostic

_STYLES = {"AG1": "green", "AG2": "yellow"}


def show(results: Sequence[Result], layout: str, colour: bool) -> None:
    """Print all results as a table or as JSON."""
    if layout == "json":
        review.show([review.text_line(json.dumps(_document(results), indent=2))], colour=False)
    else:
        _show_table(results, colour)


def _document(results: Sequence[Result]) -> dict[str, Any]:
    files = [{"path": one.shown, "sites": list(map(_site, sites_of(one))), "errors": list(map(_site, one.errors))}
             for one in results if one.diagnostics]  # fmt: skip
    return {"version": 1, "files": files}


def _site(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "line": diagnostic.line,
        "column": diagnostic.column,
        "end_line": diagnostic.end_line,
        "source": diagnostic.snippet.strip(),
        "rewritten": diagnostic.code.startswith("AG1"),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "advice": diagnostic.advice,
    }


def sites_of(result: Result) -> Iterator[Diagnostic]:
    """What is rewritten and what is left alone, by line."""
    return iter(sorted((*result.rewritten, *result.left_alone), key=lambda found: (found.line, found.column)))


def _show_table(results: Sequence[Result], colour: bool) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("place", "source", "code", "what becomes of it"):
        table.add_column(heading, no_wrap=heading in ("place", "code"), overflow="fold")
    for result in results:
        for found in sites_of(result):
            outcome = found.message + (f"; {found.advice}" if found.advice else "")
            place = f"{review.printable(result.shown)}:{found.line}"
            code = Text(found.code, _STYLES[found.code[:3]])
            table.add_row(Text(place), Text(found.snippet.strip()), code, Text(outcome))
    width = None if sys.stdout.isatty() else 10_000  # nothing is wrapped on a pipe
    console = Console(color_system="standard" if colour else None, force_terminal=colour, no_color=False, width=width)
    if table.rows:
        console.print(table)
    console.print(_count(results), highlight=False)


def _count(results: Sequence[Result]) -> str:
    rewritten, left = sum(len(one.rewritten) for one in results), sum(len(one.left_alone) for one in results)
    failed = sum(bool(one.errors) for one in results)
    places = "1 place depends" if rewritten + left == 1 else f"{rewritten + left} places depend"
    text = f"{places} on tensors: {rewritten} would be rewritten, {left} left alone"
    return text + (f"; {failed} failed" if failed else "")
