"""What a person gets to see of a conversion: the diff with its reasons, the syntax tree, the summary.

A diff is made of bytes, so that it applies to files of any encoding and with any newlines. The text format repeats the
file's header before each hunk that has a reason: with text between the hunks of one header neither `git apply` nor
`patch` would take the rest of the file.
"""

from __future__ import annotations

import difflib
import io
import itertools
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autograph_torch.diagnostics import NOTES, Diagnostic

_NEEDS_QUOTES = re.compile(r'[\x00-\x1f\x7f"\\]')
STYLES = {"reason": "bold yellow", "header": "bold", "range": "cyan", "-": "red", "+": "green", " ": ""}


@dataclass(frozen=True)
class Result:
    """What became of one file; a failed one is never written."""

    shown: str
    raw: bytes
    output: bytes
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.code.startswith("AG3"))

    @property
    def rewritten(self) -> tuple[Diagnostic, ...]:
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.code.startswith("AG1"))

    @property
    def left_alone(self) -> tuple[Diagnostic, ...]:
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.code.startswith("AG2"))

    @property
    def changed(self) -> bool:
        return not self.errors and self.output != self.raw


@dataclass(frozen=True)
class Line:
    """One line of a review: what kind it is (a key of `STYLES`), and its bytes with the newline."""

    kind: str
    content: bytes


@dataclass(frozen=True)
class Hunk:
    """A run of changed lines with its surroundings; `end` is the last line of it in the original, from 1."""

    end: int
    lines: tuple[Line, ...]


def text(result: Result, diff: bool, verbose: bool) -> Iterator[Line]:
    """The diff with the reasons above each hunk (or the reasons alone); `verbose` adds what was left alone, first."""
    if verbose:
        yield from map(_reason, result.left_alone)
    if not result.changed:
        return
    if not diff:
        yield from map(_reason, result.rewritten)
        return
    hunks = _hunks(result)
    for index, (hunk, reasons) in enumerate(zip(hunks, reasons_of(hunks, result.rewritten), strict=True)):
        yield from map(_reason, reasons)
        if reasons or index == 0:
            yield from _header(result.shown)
        yield from hunk.lines


def patch(result: Result) -> Iterator[Line]:
    """The diff and nothing else."""
    if result.changed:
        yield from _header(result.shown)
        yield from itertools.chain.from_iterable(hunk.lines for hunk in _hunks(result))


def syntax_tree(result: Result) -> Iterator[Line]:
    """The tree of the rewritten file, for those who write passes."""
    import ast

    import astunparse

    if not result.errors:
        yield text_line(f"# {result.shown}")
        try:
            yield text_line(astunparse.dump(ast.parse(result.output)))
        except RecursionError:
            yield text_line("# too deeply nested to be shown")


def summary(results: Sequence[Result], verb: str) -> str:
    """`2 files would change (5 rewritten, 1 left alone), 3 unchanged, 1 failed`."""
    changed = sum(result.changed for result in results)
    failed = sum(bool(result.errors) for result in results)
    rewritten = sum(found.code not in NOTES for result in results if result.changed for found in result.rewritten)
    left = sum(len(result.left_alone) for result in results)
    parts = [f"{changed} {'file' if changed == 1 else 'files'} {verb} ({rewritten} rewritten, {left} left alone)"]
    parts.append(f"{len(results) - changed - failed} unchanged")
    return ", ".join(parts + ([f"{failed} failed"] if failed else []))


def show(lines: Iterable[Line], colour: bool) -> None:
    """Print to stdout: the exact bytes, or styled text for a terminal."""
    sys.stdout.flush()
    if not colour:
        for line in lines:
            sys.stdout.buffer.write(line.content)
        sys.stdout.buffer.flush()
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(color_system="standard", force_terminal=True, no_color=False, highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text(line.content.decode("utf-8", "replace").rstrip("\r\n"), style=STYLES[line.kind]))


def _hunks(result: Result) -> list[Hunk]:
    old, new = lines_of(result.raw), lines_of(result.output)
    groups = difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(3)
    return [_hunk(group, old, new) for group in groups]


def _hunk(group: Sequence[tuple[str, int, int, int, int]], old: list[bytes], new: list[bytes]) -> Hunk:
    first, last = group[0], group[-1]
    ranges = f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
    lines = [text_line(ranges, "range")]
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            lines += [_diff_line(" ", line) for line in old[i1:i2]]
        else:
            lines += [_diff_line("-", line) for line in old[i1:i2]]
            lines += [_diff_line("+", line) for line in new[j1:j2]]
    return Hunk(last[2], tuple(lines))


def _range(start: int, stop: int) -> str:
    """A hunk's range as diff writes it: from 1, no length when it is 1, an empty one from the line before it."""
    length = stop - start
    begin = start + 1 if length else start
    return f"{begin}" if length == 1 else f"{begin},{length}"


def _diff_line(sign: str, line: bytes) -> Line:
    ended = line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
    return Line(sign, sign.encode() + ended)


def _header(shown: str) -> Iterator[Line]:
    """`--- a/path` and `+++ b/path`, written as git writes them."""
    for sign, prefix in (("---", "a/"), ("+++", "b/")):
        yield text_line(f"{sign} {_quoted(prefix + shown.lstrip('/'))}", "header")


def _quoted(name: str) -> str:
    """A tab ends names with spaces; names with control characters, quotes or backslashes are C strings."""
    if not _NEEDS_QUOTES.search(name):
        return name + ("\t" if " " in name else "")
    escaped = re.sub(r'["\\]', r"\\\g<0>", name)
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\{ord(found[0]):03o}", escaped) + '"'


def reasons_of(hunks: Sequence[Hunk], diagnostics: Iterable[Diagnostic]) -> list[list[Diagnostic]]:
    """For each hunk its reasons: those of a line go to the first hunk that does not end above it."""
    reasons: list[list[Diagnostic]] = [[] for _ in hunks]
    for diagnostic in sorted(diagnostics, key=lambda diagnostic: (diagnostic.line, diagnostic.column)):
        index = next((i for i, hunk in enumerate(hunks) if hunk.end >= diagnostic.line), len(hunks) - 1)
        reasons[index].append(diagnostic)
    return reasons


def _reason(diagnostic: Diagnostic) -> Line:
    return text_line(f"{diagnostic.filename}:{diagnostic.line}: {diagnostic.code} {diagnostic.message}", "reason")


def lines_of(data: bytes) -> list[bytes]:
    """The lines as diff and patch see them: a newline ends a line, a lone carriage return does not."""
    return [line + b"\n" for line in data.split(b"\n")[:-1]] + [last for last in data.split(b"\n")[-1:] if last]


def decoded(data: bytes, raw: bytes) -> list[str]:
    """The lines of a file, or of what came of it, to look at: whatever the bytes are, there is a text."""
    try:
        text = data.decode(codec_of(raw), "replace")
    except (SyntaxError, LookupError):
        text = data.decode("utf-8", "replace")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def codec_of(raw: bytes) -> str:
    """The codec of a file; a byte order mark is part of what an edit replaces."""
    codec, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    return "utf-8" if codec == "utf-8-sig" else codec


def printable(text: str) -> str:
    """Text for a terminal, also when it has the name of a file that is not text."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def text_line(content: str, kind: str = " ") -> Line:
    return Line(kind, content.encode("utf-8", "surrogateescape") + b"\n")
