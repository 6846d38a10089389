"""Edits: spans of bytes and what stands there instead. Everything outside the spans stays identical."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from autograph_torch.source.file import SourceFile, check_compiles, source_error


class Edit(NamedTuple):
    """Replace `utf8[start:end]` of a source file by `new`, which is UTF-8 as well."""

    start: int
    end: int
    new: bytes


def apply(source: SourceFile, edits: Iterable[Edit]) -> bytes:
    """The file with the edits made, in its own encoding. Text that does not compile is never handed back."""
    utf8 = patched(source.utf8, edits)
    check_module(source)
    _check(source, utf8, "the rewritten file does not compile: ")
    return source.to_bytes(utf8)


def check_module(source: SourceFile) -> None:
    """Raise a `SourceError` for a file that parses and is no module all the same."""
    _check(source, source.utf8, "")


def _check(source: SourceFile, utf8: bytes, what: str) -> None:
    try:
        check_compiles(utf8.decode("utf-8"), source.filename)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        snippet = (getattr(error, "text", None) or "").rstrip("\r\n")
        said, column = getattr(error, "msg", None) or str(error), getattr(error, "offset", None) or 1
        raise source_error(source.filename, f"{what}{said}", line, column, snippet) from error


def patched(utf8: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes with the edits made. Insertions at one place keep the order they are given in."""
    parts: list[bytes] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not position <= edit.start <= edit.end <= len(utf8):
            raise ValueError(f"edits overlap or leave the file at byte {edit.start}")
        parts += [utf8[position : edit.start], edit.new]
        position = edit.end
    return b"".join(parts) + utf8[position:]
