"""A Python file, byte exact: its encoding, its lines as the parser counts them, and the bytes behind a node.

`ast` gives columns as UTF-8 byte offsets of the *decoded* text. So the text is kept as `utf8`, every offset of the
`source` package is an offset into it, and the file's own codec and byte order mark come back when it is written.
"""

from __future__ import annotations

import ast
import bisect
import codecs
import re
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import gast

from autograph_torch.diagnostics import Diagnostic, SourceError
from autograph_torch.source.nodes import statements
from autograph_torch.source.tokens import Tokens

_NEWLINE = re.compile(rb"\r\n|\r|\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_INDENT = re.compile(rb"[ \t]*")
_FEEDS = re.compile(rb"[ \t\f]*\f")
_SHORTEST_LIMIT, _LONGEST_LIMIT = 79, 120
_LARGEST = 4 << 20  # bytes; the trees of a larger file can take gigabytes


@dataclass(frozen=True)
class SourceFile:
    """The parsed file. Offsets are byte offsets into `utf8`; lines count from 1."""

    filename: str
    utf8: bytes
    codec: str
    bom: bytes
    tree: ast.Module

    @classmethod
    def read(cls, raw: bytes, filename: str) -> SourceFile:
        """Decode and parse; whatever is wrong with the file is a `SourceError` that names the line."""
        if len(raw) > _LARGEST:
            raise source_error(filename, f"too large: {len(raw):,} bytes, at most {_LARGEST:,} can be analysed")
        bom = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
        codec = _codec(raw, filename)
        text = _decode(raw[len(bom) :], codec, filename)
        utf8 = text.encode("utf-8")
        return cls(filename, utf8, codec, bom, _parse(text, utf8, filename))

    @cached_property
    def text(self) -> str:
        return self.utf8.decode("utf-8")

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each line starts. Form feeds and U+2028 end no line, a lone carriage return does."""
        return (0, *(match.end() for match in _NEWLINE.finditer(self.utf8)))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The text of each line, without its newline."""
        return tuple(line.rstrip("\r\n") for line in lines_of(self.text))

    @cached_property
    def tokens(self) -> Tokens:
        return Tokens(self.utf8, self.starts, self.tree)

    @cached_property
    def newline(self) -> str:
        """The newline that most lines of the file end with; the first one where that is a draw."""
        counts = Counter(_NEWLINE.findall(self.utf8))
        return counts.most_common(1)[0][0].decode() if counts else "\n"

    @cached_property
    def indent_unit(self) -> str:
        """The white space that one more level of nesting adds most often."""
        steps = Counter(self._indent_steps())
        return steps.most_common(1)[0][0] if steps else "    "

    @cached_property
    def line_limit(self) -> int:
        """New lines grow as long as the file's own longest line, between 79 and 120 columns."""
        longest = max(map(len, self.lines), default=0)
        return min(max(longest, _SHORTEST_LIMIT), _LONGEST_LIMIT)

    @cached_property
    def quote(self) -> str:
        """The quote that most strings of the file use."""
        strings = [token.text for token in self.tokens.all() if token.kind in ("STRING", "FSTRING_START")]
        single = sum(text.lstrip("rRbBuUfF").startswith("'") for text in strings)
        return "'" if single * 2 > len(strings) else '"'

    def span(self, node: ast.AST | gast.AST) -> tuple[int, int]:
        """The bytes of a node; parentheses around it are not part of it."""
        start = self.starts[node.lineno - 1] + node.col_offset  # type: ignore[union-attr]
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[union-attr]

    def line(self, number: int) -> bytes:
        """A line with its newline."""
        return self.utf8[self.starts[number - 1] : self.line_end(number)]

    def line_end(self, number: int) -> int:
        """Where the line after this one starts; the end of the file for the last one."""
        return self.starts[number] if number < len(self.starts) else len(self.utf8)

    def line_number(self, offset: int) -> int:
        return bisect.bisect_right(self.starts, offset)

    def indent(self, number: int) -> str:
        """The white space a line starts with, from its last form feed on: there Python begins to count anew."""
        found = _INDENT.match(self.utf8, self.indent_start(number), self.line_end(number))
        return found.group().decode() if found else ""

    def indent_start(self, number: int) -> int:
        """Where the indentation of a line starts: behind the form feeds in front of it."""
        start = self.starts[number - 1]
        found = _FEEDS.match(self.utf8, start, self.line_end(number))
        return found.end() if found else start

    def slice(self, start: int, end: int) -> str:
        return self.utf8[start:end].decode("utf-8")

    def to_bytes(self, utf8: bytes) -> bytes:
        """New text in the codec of the file, with its byte order mark."""
        try:
            return self.bom + utf8.decode("utf-8").encode(self.codec)
        except UnicodeEncodeError as error:
            line = error.object[: error.start].count("\n") + 1
            raise source_error(self.filename, f"new text does not fit the encoding {self.codec}", line) from error

    def _indent_steps(self) -> Iterator[str]:
        for parent in statements(self.tree):
            block = getattr(parent, "body", None)
            if isinstance(block, list) and block and isinstance(parent, ast.stmt):
                outer, inner = self.indent(parent.lineno), self.indent(block[0].lineno)
                if inner.startswith(outer) and inner != outer:
                    yield inner[len(outer) :]


def source_error(filename: str, message: str, line: int = 1, column: int = 1, snippet: str = "") -> SourceError:
    return SourceError(Diagnostic("AG301", filename, line, column, line, message, snippet=snippet))


def _codec(raw: bytes, filename: str) -> str:
    """The codec by byte order mark or coding cookie; the mark itself is handled apart."""
    lines = iter(re.split(rb"(?<=\n)|(?<=\r)(?!\n)", raw[:4096] if len(raw) > 4096 else raw))
    try:
        codec, _ = tokenize.detect_encoding(lambda: next(lines, b""))
    except SyntaxError as error:
        raise source_error(filename, str(error.msg)) from error
    return "utf-8" if codec == "utf-8-sig" else codec


def _decode(raw: bytes, codec: str, filename: str) -> str:
    """The text, if encoding it again gives the same bytes: a codec that loses something cannot be patched."""
    try:
        text = raw.decode(codec)
        exact = text.encode(codec) == raw
        text.encode("utf-8")
    except UnicodeDecodeError as error:
        line = len(_NEWLINE.findall(raw, 0, error.start)) + 1
        raise source_error(filename, f"cannot be decoded as {codec}: {error.reason}", line) from error
    except (UnicodeError, LookupError, TypeError) as error:
        raise source_error(filename, f"cannot be decoded as {codec}: {error}") from error
    if not exact:
        raise source_error(filename, f"cannot be written back in {codec} without changing other bytes")
    return text


def _parse(text: str, utf8: bytes, filename: str) -> ast.Module:
    if "\0" in text:
        line = len(_NEWLINE.findall(utf8, 0, utf8.index(b"\0"))) + 1
        raise source_error(filename, "source code contains null bytes", line)
    try:
        return parse_quietly(text, filename)
    except SyntaxError as error:
        raise source_error(
            filename, error.msg, error.lineno or 1, error.offset or 1, (error.text or "").rstrip("\r\n")
        ) from error
    except (RecursionError, MemoryError) as error:
        line = _deepest_line(text, filename)
        raise source_error(filename, "too deeply nested for the Python parser", line) from error
    except ValueError as error:
        raise source_error(filename, str(error)) from error


def _deepest_line(text: str, filename: str) -> int:
    """The line with which the text becomes too deep; the parser does not say it."""
    lines = lines_of(text)

    def is_too_deep(count: int) -> bool:
        try:
            parse_quietly("".join(lines[:count]), filename)
        except (RecursionError, MemoryError):
            return True
        except SyntaxError:
            return False
        return False

    return bisect.bisect_left(range(len(lines)), True, 1, key=is_too_deep)


def lines_of(text: str) -> list[str]:
    """The lines with their newlines, as the parser counts them: `str.splitlines` also splits at form feeds."""
    return _LINE.findall(text)


def parse_quietly(text: str, filename: str = "<source>") -> ast.Module:
    """`ast.parse` without the warnings about the user's own escapes and literals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, filename)


def check_compiles(text: str, filename: str) -> None:
    """Raise what Python says of a module that parses and yet is none: `break` outside of a loop, a name twice among
    the parameters, `nonlocal` of nothing. Nothing of it runs.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(text, filename, "exec", dont_inherit=True)
