"""The tokens of a file by byte offset: for what the tree does not keep (comments, colons, `else`, parentheses)."""

from __future__ import annotations

import bisect
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True)
class Tokens:
    """The tokens in order, with lookups by offset."""

    all: tuple[Token, ...]
    starts: tuple[int, ...]
    lines: tuple[int, ...]

    def after(self, offset: int) -> Iterator[Token]:
        """The tokens that start at or after `offset`."""
        for index in range(bisect.bisect_left(self.starts, offset), len(self.all)):
            yield self.all[index]

    def before(self, offset: int) -> Iterator[Token]:
        """The tokens that start before `offset`, the nearest first."""
        for index in range(bisect.bisect_left(self.starts, offset) - 1, -1, -1):
            yield self.all[index]

    def find(self, text: str, offset: int) -> Token:
        """The next token of that text; the caller knows that there is one."""
        return next(token for token in self.after(offset) if token.text == text and token.kind in ("OP", "NAME"))

    def next_code(self, offset: int) -> Token:
        """The next token that is neither a comment nor a line break within a statement."""
        return next(token for token in self.after(offset) if token.kind not in _LAYOUT)

    def previous_code(self, offset: int) -> Token | None:
        return next((token for token in self.before(offset) if token.kind not in _LAYOUT), None)

    def comments(self, start: int, end: int) -> list[Token]:
        low, high = (bisect.bisect_left(self._comment_starts, offset) for offset in (start, end))
        return list(self.all_comments[low:high])

    @cached_property
    def all_comments(self) -> tuple[Token, ...]:
        return tuple(token for token in self.all if token.kind == "COMMENT")

    @cached_property
    def _comment_starts(self) -> tuple[int, ...]:
        return tuple(token.start for token in self.all_comments)

    @cached_property
    def frozen(self) -> frozenset[int]:
        """Starts of lines that begin inside a string: their white space is part of a value."""
        inside: set[int] = set()
        for start, end in self._strings():
            low, high = bisect.bisect_right(self.lines, start), bisect.bisect_right(self.lines, end)
            inside.update(self.lines[low:high])
        return frozenset(inside)

    def _strings(self) -> Iterator[tuple[int, int]]:
        depth, outermost = 0, 0
        for token in self.all:
            if token.kind in _STRING_STARTS:
                outermost = token.start if depth == 0 else outermost
                depth += 1
            if token.kind in _STRING_ENDS:
                depth -= 1
                if depth == 0:
                    yield outermost, token.end


def tokens_of(utf8: bytes, line_starts: tuple[int, ...]) -> Tokens:
    """Tokenize text that is known to parse."""
    text = re.sub(r"\r\n|\r", "\n", utf8.decode("utf-8"))
    found = tuple(_tokens(text, line_starts, len(utf8)))
    return Tokens(found, tuple(token.start for token in found), line_starts)


def _tokens(text: str, starts: tuple[int, ...], size: int) -> Iterator[Token]:
    lines = None if text.isascii() else text.split("\n")
    for item in python_tokens(text):
        kind = tokenize.tok_name[item.type]
        if kind in _DROPPED:
            continue
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
