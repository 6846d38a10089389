"""SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0): what code scanning services and editors read.

Every message is a result. The functions of a file are rewritten together, so the edits of a file are one fix, which
stands with the file's first rewritten place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from autograph_torch import __version__
from autograph_torch.cli.reports import Change, changes
from autograph_torch.cli.review import Line, Result, codec_of, lines_of, text_line
from autograph_torch.diagnostics import RULES, Diagnostic

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"AG1": "warning", "AG2": "note", "AG3": "error"}


def log(results: Sequence[Result], verbose: bool, exit_code: int) -> Line:
    """The whole log; what was left alone only with `verbose`."""
    shown = [(result, diagnostic) for result in results for diagnostic in _told(result, verbose)]
    codes = sorted({diagnostic.code for _, diagnostic in shown})
    run = {
        "tool": {"driver": _driver(codes)},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not any(r.errors for r in results), "exitCode": exit_code}],
        "results": [_result(result, diagnostic, codes) for result, diagnostic in shown],
    }
    return text_line(json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2))


def _told(result: Result, verbose: bool) -> Iterable[Diagnostic]:
    return (diagnostic for diagnostic in result.diagnostics if verbose or not diagnostic.code.startswith("AG2"))


def _driver(codes: Sequence[str]) -> dict[str, Any]:
    rules = [
        {
            "id": code,
            "shortDescription": {"text": RULES[code].title},
            "fullDescription": {"text": RULES[code].explanation or RULES[code].title},
            "defaultConfiguration": {"level": _LEVELS[code[:3]]},
        }
        for code in codes
    ]
    return {"name": "autograph-torch", "semanticVersion": __version__, "rules": rules}


def _result(result: Result, diagnostic: Diagnostic, codes: Sequence[str]) -> dict[str, Any]:
    message = diagnostic.message + (f" ({diagnostic.advice})" if diagnostic.advice else "")
    artifact = {"uri": _uri(result.shown)}
    region = {"startLine": diagnostic.line, "startColumn": diagnostic.column, "endLine": diagnostic.end_line}
    found: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": _LEVELS[diagnostic.code[:3]],
        "message": {"text": message},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
    }
    if result.changed and diagnostic is result.rewritten[0]:
        replacements = [_replacement(change, result.raw) for change in changes(result)]
        change = {"artifactLocation": artifact, "replacements": replacements}
        found["fixes"] = [{"description": {"text": "rewrite the file"}, "artifactChanges": [change]}]
    return found


def _replacement(change: Change, raw: bytes) -> dict[str, Any]:
    """Lines and columns as SARIF counts them: the end is the first column that stays."""
    line, column = change.end, 1
    if change.end_byte == len(raw) and raw and not raw.endswith(b"\n"):  # the last line has no newline
        line, column = change.end - 1, len(lines_of(raw)[-1].decode(codec_of(raw))) + 1
    deleted = {
        "startLine": change.start,
        "startColumn": 1,
        "endLine": line,
        "endColumn": column,
        "byteOffset": change.start_byte,
        "byteLength": change.end_byte - change.start_byte,
    }
    return {"deletedRegion": deleted, "insertedContent": {"text": change.replacement}}


def _uri(shown: str) -> str:
    """A relative reference for a file below the working directory, `file:` for any other."""
    path = Path(shown)
    if path.is_absolute() or shown.startswith(".."):
        return "file://" + quote(os.fsencode(path.resolve().as_posix()))
    return quote(os.fsencode(shown))
