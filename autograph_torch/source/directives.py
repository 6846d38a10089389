"""Comments that steer conversion: `# autograph: skip`, `off` ... `on`, `skip-file`.

if x.sum() > 0:  # autograph: skip        leaves this statement, with all that is in it, alone: so on a `def` line
# autograph: off ... # autograph: on      leaves what starts on the lines between alone
# autograph: skip-file                    leaves the file alone
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autograph_torch.diagnostics import Diagnostic, SourceError
from autograph_torch.source.file import lines_of
from autograph_torch.source.tokens import python_tokens

_DIRECTIVE = re.compile(r"#\s*autograph:\s*(\S*)")
_WORDS = "skip, off, on or skip-file"


@dataclass(frozen=True)
class Directives:
    """What the comments of a file ask for; `notes` tell the user about each."""

    skip_file: bool = False
    skipped_lines: frozenset[int] = frozenset()
    notes: tuple[Diagnostic, ...] = ()

    @classmethod
    def read(cls, text: str, filename: str, tree: ast.Module) -> Directives:
        """Collect the directives of a file.

        Raises:
            SourceError: AG303, with its line, for a directive that does not exist or stands where it means nothing.
        """
        if "autograph:" not in text:
            return cls()
        try:
            found = [_Comment(filename, *one) for one in _comments(text)]
        except ValueError as error:
            raise SourceError(Diagnostic("AG301", filename, 1, 1, 1, str(error))) from error
        whole = [comment for comment in found if comment.word == "skip-file"]
        if whole:
            return cls(True, frozenset(), (whole[0].note(whole[0].line),))
        for comment in found:
            if comment.word not in ("skip", "off", "on"):
                raise comment.error(f"unknown directive `autograph: {comment.word}`", f"use {_WORDS}")
        ranges = {**_regions(found, len(lines_of(text))), **_statements(found, tree)}
        lines = frozenset(line for start, end in ranges.values() for line in range(start, end + 1))
        return cls(False, lines, tuple(comment.note(end) for comment, (_, end) in ranges.items()))


@dataclass(frozen=True)
class _Comment:
    """One directive."""

    filename: str
    line: int
    column: int
    word: str
    snippet: str

    @property
    def has_own_line(self) -> bool:
        return not self.snippet[: self.column - 1].strip()

    def note(self, end: int) -> Diagnostic:
        message = f"left alone: `# autograph: {self.word}` asks for it"
        return Diagnostic("AG208", self.filename, self.line, self.column, end, message, "", self.snippet)

    def error(self, message: str, advice: str) -> SourceError:
        return SourceError(
            Diagnostic("AG303", self.filename, self.line, self.column, self.line, message, advice, self.snippet)
        )


def _comments(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Line, column, word and text of the line of every directive."""
    for token in python_tokens(re.sub(r"\r\n?", "\n", text)):
        found = _DIRECTIVE.match(token.string) if token.type == tokenize.COMMENT else None
        if found is not None:
            yield token.start[0], token.start[1] + 1, found.group(1), token.line.rstrip("\r\n")


def _regions(comments: Iterable[_Comment], last_line: int) -> dict[_Comment, tuple[int, int]]:
    """From each `off` to the next `on`, or to the end of the file."""
    found: dict[_Comment, tuple[int, int]] = {}
    since: _Comment | None = None
    for comment in comments:
        if comment.word == "off" and since is None:
            since = comment
        elif comment.word == "on":
            if since is None:
                raise comment.error("`autograph: on` without an `off` before it", "remove it")
            found[since] = since.line, comment.line
            since = None
    if since is not None:
        found[since] = since.line, last_line
    return found


def _statements(comments: Iterable[_Comment], tree: ast.Module) -> dict[_Comment, tuple[int, int]]:
    """The lines of the statements on whose first lines a `skip` stands."""
    found: dict[_Comment, tuple[int, int]] = {}
    skips = [comment for comment in comments if comment.word == "skip"]
    for node in ast.walk(tree) if skips else ():
        if not isinstance(node, ast.stmt):
            continue
        start = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
        for comment in skips:
            if start <= comment.line <= _head_end(node, comment):
                first, last = found.get(comment, (start, start))  # `a; b  # autograph: skip` stands on both
                found[comment] = min(first, start), max(last, node.end_lineno or start)
    for comment in skips:
        if comment not in found:
            raise comment.error("`autograph: skip` stands on no statement", "put it at the end of the statement's line")
    return found


def _head_end(node: ast.stmt, comment: _Comment) -> int:
    """The last line on which a comment belongs to the statement itself and not to what is in it."""
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return node.end_lineno or node.lineno
    if comment.has_own_line:  # between decorators; below them it could as well be about the body
        return node.lineno - 1
    first = body[0]
    return max(node.lineno, (first.pattern if isinstance(first, ast.match_case) else first).lineno - 1)
