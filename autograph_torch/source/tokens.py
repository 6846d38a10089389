"""The tokens of a file by byte offset: for what the tree does not keep (comments, colons, `else`, parentheses)."""

from __future__ import annotations

import ast
import bisect
import io
import itertools
import re
import tokenize
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_STRING_STARTS = ("STRING", "FSTRING_START", "TSTRING_START")
_STRING_ENDS = ("STRING", "FSTRING_END", "TSTRING_END")
_LAYOUT = ("NL", "COMMENT")
# Without text of their own, or (3.12) with columns that are wrong next to doubled braces.
_DROPPED = frozenset(("INDENT", "DEDENT", "ENDMARKER", "FSTRING_MIDDLE", "TSTRING_MIDDLE"))


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class _Chunk(NamedTuple):
    """The tokens of some lines, and the offset of each."""

    tokens: tuple[Token, ...]
    starts: tuple[int, ...]


class Tokens:
    """The tokens of a file in order, with lookups by offset. Only those that are looked at are read."""

    def __init__(self, utf8: bytes, lines: tuple[int, ...], tree: ast.Module) -> None:
        """`lines` are the offsets of all lines, `tree` what the file parses to."""
        self._utf8 = utf8
        self._lines = lines
        self._first_lines = [0, *sorted(set(_first_lines(utf8, lines, tree.body)) - {0})]
        self._offsets = [lines[number] for number in self._first_lines]
        self._chunks: dict[int, _Chunk] = {}
        self._frozen: dict[int, frozenset[int]] = {}

    def all(self) -> Iterator[Token]:
        return self.after(0)

    def after(self, offset: int) -> Iterator[Token]:
        """The tokens that start at or after `offset`."""
        number = self._number(offset)
        chunk = self._chunk(number)
        for index in range(bisect.bisect_left(chunk.starts, offset), len(chunk.tokens)):
            yield chunk.tokens[index]
        for following in range(number + 1, len(self._offsets)):
            yield from self._chunk(following).tokens

    def before(self, offset: int) -> Iterator[Token]:
        """The tokens that start before `offset`, the nearest first."""
        number = self._number(offset)
        chunk = self._chunk(number)
        for index in range(bisect.bisect_left(chunk.starts, offset) - 1, -1, -1):
            yield chunk.tokens[index]
        for previous in range(number - 1, -1, -1):
            yield from reversed(self._chunk(previous).tokens)

    def find(self, text: str, offset: int) -> Token:
        """The next token of that text; the caller knows that there is one."""
        return next(token for token in self.after(offset) if token.text == text and token.kind in ("OP", "NAME"))

    def next_code(self, offset: int) -> Token:
        """The next token that is neither a comment nor a line break within a statement; one without text at the end.

        Python 3.11 gives no NEWLINE for a last line that is continued by a comment.
        """
        end = Token("ENDMARKER", "", len(self._utf8), len(self._utf8))
        return next((token for token in self.after(offset) if token.kind not in _LAYOUT), end)

    def previous_code(self, offset: int) -> Token | None:
        return next((token for token in self.before(offset) if token.kind not in _LAYOUT), None)

    def comments(self, start: int, end: int) -> list[Token]:
        within = itertools.takewhile(lambda token: token.start < end, self.after(start))
        return [token for token in within if token.kind == "COMMENT"]

    def in_string(self, line: int) -> bool:
        """The line that starts at the offset `line` begins inside a string: its white space is part of a value."""
        number = self._number(line)
        if number not in self._frozen:
            spans = _strings(self._chunk(number).tokens)
            self._frozen[number] = frozenset(start for span in spans for start in self._lines_that_begin_in(*span))
        return line in self._frozen[number]

    def _lines_that_begin_in(self, start: int, end: int) -> tuple[int, ...]:
        return self._lines[bisect.bisect_right(self._lines, start) : bisect.bisect_right(self._lines, end)]

    def _number(self, offset: int) -> int:
        return bisect.bisect_right(self._offsets, offset) - 1

    def _chunk(self, number: int) -> _Chunk:
        if number not in self._chunks:
            first = self._first_lines[number]
            last = self._first_lines[number + 1] if number + 1 < len(self._offsets) else len(self._lines)
            end = self._lines[last] if last < len(self._lines) else len(self._utf8)
            tokens = tuple(_tokens(self._utf8[self._lines[first] : end], self._lines[first:last], end))
            self._chunks[number] = _Chunk(tokens, tuple(token.start for token in tokens))
        return self._chunks[number]


def _strings(tokens: Iterable[Token]) -> Iterator[tuple[int, int]]:
    depth, outermost = 0, 0
    for token in tokens:
        if token.kind in _STRING_STARTS:
            outermost = token.start if depth == 0 else outermost
            depth += 1
        if token.kind in _STRING_ENDS:
            depth -= 1
            if depth == 0:
                yield outermost, token.end


def _first_lines(utf8: bytes, lines: tuple[int, ...], body: Iterable[ast.stmt]) -> Iterator[int]:
    """Lines, from 0, where a statement of a module or class begins: what follows can be read without what is above."""
    for node in body:
        decorators = getattr(node, "decorator_list", None)
        first, opening = (decorators[0], b"@") if decorators else (node, b"")
        start = lines[first.lineno - 1]
        is_continued = utf8[:start].endswith((b"\\\n", b"\\\r\n", b"\\\r"))
        if utf8[start : start + first.col_offset].strip() == opening and not is_continued:
            yield first.lineno - 1
        if isinstance(node, ast.ClassDef):
            yield from _first_lines(utf8, lines, node.body)


def _tokens(utf8: bytes, starts: tuple[int, ...], size: int) -> Iterator[Token]:
    """The tokens of lines that start at the offsets `starts` of a file; `size` is where the last one ends."""
    text = re.sub(r"\r\n|\r", "\n", utf8.decode("utf-8"))
    lines = None if text.isascii() else text.split("\n")
    last_code = "NEWLINE"
    for item in python_tokens(text):
        kind = tokenize.tok_name[item.type]
        if kind in _DROPPED:
            continue
        if kind == "NEWLINE" and last_code == "NEWLINE":
            kind = "NL"  # behind a line continuation Python's tokenizer ends lines that nothing stands on
        last_code = last_code if kind in _LAYOUT else kind
        begin = _offset(item.start, lines, starts, size)
        end = _offset(item.end, lines, starts, size)
        if item.type in (tokenize.NEWLINE, tokenize.NL):
            # The newline itself, which may be two bytes wide, or nothing at the end of the file.
            end = starts[item.start[0]] if item.start[0] < len(starts) else size
        yield Token(kind, item.string, begin, end)


def python_tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """Python's own tokens of text that is known to parse.

    Raises:
        ValueError: before Python 3.12 `tokenize` reads odd line continuations otherwise than the parser.
    """
    try:
        yield from tokenize.generate_tokens(io.StringIO(text, newline="\n").readline)
    except (tokenize.TokenError, SyntaxError) as error:
        reason = f"the file parses, but Python's own tokenize module fails on it: {error.args[0]}"
        raise ValueError(reason) from error


def _offset(place: tuple[int, int], lines: list[str] | None, starts: tuple[int, ...], size: int) -> int:
    """The byte offset of a row and column; `lines` only where a character may be more than one byte."""
    row, column = place
    if row > len(starts):
        return size
    width = column if lines is None else len(lines[row - 1][:column].encode("utf-8"))
    return min(starts[row - 1] + width, size)
