"""Lines of Python as HTML: escaped, with a class for each kind of token, and with nothing in them that hides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

# What starts outside of any string, as good as always: where a piece of a file can be read from.
_DEFINITION = re.compile(r"\s*(async\s+def|def|class)\b|\s*@")
_FURTHEST = 400  # lines to look for one

# A kind of token is a tuple, and the kinds above it are the beginnings of that.
_CLASSES: Mapping[tuple[str, ...], str] = {
    Keyword: "k",
    Operator.Word: "k",
    Name.Function: "f",
    Name.Class: "f",
    Name.Decorator: "d",
    Name.Builtin: "b",
    Number: "m",
    String: "s",
    Comment: "c",
}
# Characters that change the order or the look of others, beside the control characters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)


class Colours:
    """The lines of a text, coloured when they are asked for, from the nearest definition above on."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._done: dict[int, str] = {}

    def line(self, number: int) -> str:
        if number not in self._done:
            self._done.update(self._coloured(number))
        return self._done[number]

    def depth(self, number: int) -> int:
        """The columns of white space that a line starts with."""
        line = self._lines[number].expandtabs(4)
        return len(line) - len(line.lstrip(" "))

    def _coloured(self, number: int) -> Iterator[tuple[int, str]]:
        """The lines from the definition above `number` to a few below it; the last may be cut within a string."""
        first = next((n for n in range(number, max(number - _FURTHEST, -1), -1) if self._starts(n)), 0)
        last = min(number + 40, len(self._lines))
        text = "\n".join(self._lines[first:last])
        spans = [""]
        for _, token, value in PythonLexer().get_tokens_unprocessed(text):
            name = _class_of(token)
            for index, part in enumerate(value.split("\n")):
                spans += [""] if index else []
                if part:
                    spans[-1] += f'<span class="{name}">{visible(part)}</span>' if name else visible(part)
        return zip(range(first, last), spans, strict=True)

    def _starts(self, number: int) -> bool:
        return _DEFINITION.match(self._lines[number]) is not None


def visible(text: str) -> str:
    """Text as HTML; characters that would show as nothing, or turn the line around, show as their number."""
    return _HIDDEN.sub(lambda found: f'<i class="hidden">{ord(found[0]):04X}</i>', escape(text))


def _class_of(token: tuple[str, ...]) -> str:
    kinds = (token[:length] for length in range(len(token), 0, -1))
    return next((_CLASSES[kind] for kind in kinds if kind in _CLASSES), "")
