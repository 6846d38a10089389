"""The text of simple statements: an old line with new expressions in it, or a new line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import gast

from autograph_torch.source.comments import Notes
from autograph_torch.source.copying import Copier
from autograph_torch.source.expressions import Expressions, Splice
from autograph_torch.source.layout import Place

_MULTILINE = re.compile(r"[\r\n]")
_OPENING = ("(", "[", "{")
_LONG_QUOTES = ('"""', "'''")


class SimpleStatements:
    """Prints statements that have no block."""

    def __init__(self, expressions: Expressions, copier: Copier, notes: Notes) -> None:
        self.expressions = expressions
        self.copier = copier
        self.notes = notes
        self.source = copier.source

    def derived(self, node: gast.stmt, old: gast.stmt, place: Place, indent: str) -> str:
        """An old statement with other expressions; what follows it on its line and below it stays."""
        splices = self.expressions.splices(node, old)
        if splices is None or self.has_outgrown(old, place, splices, indent):
            text = self._text(node, indent)
        else:
            text = self.expressions.spliced(place.start, place.stop, splices, indent)
        return indent + text + self.copier.whole_lines(place.stop, place.end, place.indent, indent)

    def has_outgrown(self, old: Any, place: Place, splices: list[Splice], indent: str) -> bool:
        """What has changed in an old line makes it too long, so that the whole of it is broken anew."""
        if old.lineno != old.end_lineno or not isinstance(old, (gast.Assign, gast.Return, gast.Expr)):
            return False
        text = self.expressions.spliced(place.start, place.stop, splices, indent)
        limit = self.source.line_limit - len(indent)
        return not _MULTILINE.search(text) and len(text) > limit >= place.stop - place.start

    def new(self, node: gast.stmt, indent: str) -> str:
        text = self._text(node, indent)
        if _MULTILINE.search(text) and id(node) in self.notes.arms:
            text = self._with_arms(node, indent) or text
        note = self.notes.beside.get(id(node))
        newline = self.source.newline
        fits = note and not _MULTILINE.search(text) and len(indent + text + note) + 2 <= self.source.line_limit
        above = f"{indent}{note}{newline}" if note and not fits else ""
        beside = [note] if note and fits else []
        return above + indent + _with_comments(text, [*self.notes.tools.get(id(node), ()), *beside]) + newline

    def _with_arms(self, node: gast.stmt, indent: str) -> str | None:
        """The text with the comments about its branches above these, and nowhere else; None if these have no lines."""
        arms = self.notes.arms[id(node)]
        text = self.expressions.with_comments(arms, lambda: self._text(node, indent))
        if not all(note in text for _, note in arms):
            return None
        for _, note in self.notes.arms.pop(id(node)):
            self.notes.take(node, note)
        return text

    def _text(self, node: Any, indent: str) -> str:
        if isinstance(node, gast.Return) and node.value is not None:
            return self._with_value("return ", node.value, indent)
        if isinstance(node, gast.Assign):
            after = len(" = ") + len(self.expressions.text(node.value, indent).partition("(")[0]) + 1
            targets = [
                self.expressions.fitted(target, indent, len(indent), after, bare=True) for target in node.targets
            ]
            return self._with_value("".join(f"{target} = " for target in targets), node.value, indent)
        if isinstance(node, gast.Expr) and not isinstance(node.value, gast.NamedExpr):
            return self._with_value("", node.value, indent)
        return self.expressions.printed(node, indent)

    def _with_value(self, prefix: str, value: gast.expr, indent: str) -> str:
        return prefix + self.expressions.fitted(value, indent, len(indent) + len(prefix), bare=True)


def _with_comments(text: str, comments: Sequence[str]) -> str:
    """The comments at the end of the first line, the one that checkers name, unless that ends inside of a string."""
    first = _MULTILINE.split(text)[0]
    end = len(first) if first.endswith(_OPENING) and not any(quotes in first for quotes in _LONG_QUOTES) else len(text)
    return "  ".join([text[:end], *comments]) + text[end:]
