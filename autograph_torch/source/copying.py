"""Source bytes in a new place: re-indented line by line, and remembered for what they carry along."""

from __future__ import annotations

from autograph_torch.source.file import SourceFile


class Copier:
    """Copies spans of a file. `kept` holds the starts of the comments that the copies contain."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.kept: set[int] = set()

    def copy(self, start: int, end: int, old: str, new: str) -> str:
        """The span, with the lines that begin in it moved from the indentation `old` to `new`."""
        source = self.source
        self.kept.update(comment.start for comment in source.tokens.comments(start, end))
        if old == new:
            return source.slice(start, end)
        parts = []
        while start < end:
            stop = min(source.line_end(source.line_number(start)), end)
            parts.append(self._line(start, stop, old, new))
            start = stop
        return "".join(parts)

    def whole_lines(self, start: int, end: int, old: str, new: str) -> str:
        """The same for a span that ends with a line; the newline that may be missing there is added."""
        return self.line_ended(self.copy(start, end, old, new))

    def line_ended(self, text: str) -> str:
        return text if text.endswith(("\n", "\r")) else text + self.source.newline

    def comment(self, start: int, end: int) -> str:
        """The first comment of a span, or nothing."""
        found = self.source.tokens.comments(start, end)[:1]
        self.kept.update(comment.start for comment in found)
        return found[0].text.rstrip() if found else ""

    def _line(self, start: int, stop: int, old: str, new: str) -> str:
        text = self.source.slice(start, stop)
        number = self.source.line_number(start)
        begins = start == self.source.starts[number - 1]
        is_blank = not text.strip() and text.endswith(("\n", "\r"))
        if not begins or is_blank or self.source.tokens.in_string(start):
            return text
        feeds = self.source.slice(start, min(self.source.indent_start(number), stop))
        if text.startswith(feeds + old):
            return feeds + new + text[len(feeds + old) :]
        # A line that hangs out to the left: a comment joins its block, a continued line may stay where it is.
        return new + text.lstrip(" \t\f") if text.lstrip().startswith("#") else text
