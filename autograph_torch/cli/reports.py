"""What tools get to see of a conversion: JSON, GitHub's annotations, and the changed runs of lines."""

from __future__ import annotations

import difflib
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograph_torch.cli.review import Hunk, Line, Result, codec_of, lines_of, reasons_of, text_line
from autograph_torch.diagnostics import Diagnostic

LEVELS = {"AG1": "warning", "AG2": "notice", "AG3": "error"}


@dataclass(frozen=True)
class Change:
    """Whole lines of a file and what stands there instead; lines count from 1, `end` is the first one behind."""

    start: int
    end: int
    start_byte: int
    end_byte: int
    replacement: str
    reasons: tuple[Diagnostic, ...]


def changes(result: Result) -> list[Change]:
    """The changed runs of whole lines, each with its reasons; offsets count the bytes of the original file."""
    if not result.changed:
        return []
    old, new = lines_of(result.raw), lines_of(result.output)
    offsets = list(itertools.accumulate(map(len, old), initial=0))
    codec = codec_of(result.raw)
    runs = [code for code in difflib.SequenceMatcher(None, old, new).get_opcodes() if code[0] != "equal"]
    reasons = reasons_of([Hunk(i2, ()) for _, _, i2, _, _ in runs], result.rewritten)
    return [
        Change(i1 + 1, i2 + 1, offsets[i1], offsets[i2], b"".join(new[j1:j2]).decode(codec), tuple(why))
        for (_, i1, i2, j1, j2), why in zip(runs, reasons, strict=True)
    ]


def as_json(result: Result) -> dict[str, Any]:
    """One file of the JSON report."""
    status = "failed" if result.errors else "changed" if result.changed else "unchanged"
    diagnostics = [
        {name: getattr(diagnostic, name) for name in ("code", "line", "column", "end_line", "message", "advice")}
        for diagnostic in result.diagnostics
    ]
    edits = [_json_edit(change) for change in changes(result)]
    return {"path": result.shown, "status": status, "edits": edits, "diagnostics": diagnostics}


def _json_edit(change: Change) -> dict[str, Any]:
    return {
        "range": {
            "byteOffset": {"start": change.start_byte, "end": change.end_byte},
            "start": {"line": change.start, "column": 1},
            "end": {"line": change.end, "column": 1},
        },
        "replacement": change.replacement,
        "reason": [f"{diagnostic.code} {diagnostic.message}" for diagnostic in change.reasons],
    }


def report(results: Sequence[Result]) -> Line:
    """The whole JSON report."""
    document = {"version": 1, "files": [as_json(result) for result in results]}
    return text_line(json.dumps(document, indent=2))


def github(result: Result, verbose: bool) -> Iterator[Line]:
    """One workflow command a message: GitHub shows them beside the changed lines of a pull request."""
    for diagnostic in result.diagnostics:
        level = LEVELS[diagnostic.code[:3]]
        if level == "notice" and not verbose:
            continue
        place = f"file={_property(diagnostic.filename)},line={diagnostic.line},col={diagnostic.column}"
        title = f"title=autograph-torch ({diagnostic.code}),{place},endLine={diagnostic.end_line}"
        yield text_line(f"::{level} {title}::{_escaped(diagnostic.message)}")


def _escaped(message: str) -> str:
    return message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _escaped(value).replace(":", "%3A").replace(",", "%2C")
