"""The text of an expression: copied where it is old, spliced where only a part is new, printed where it is new.

Text is flat, on one line, unless old text spans lines; `fitted` breaks what is too long, one argument a line.
"""

from __future__ import annotations

import itertools
import keyword
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import gast

from autograph_torch.source.copying import Copier
from autograph_torch.source.file import SourceFile
from autograph_torch.source.layout import FIELDS
from autograph_torch.source.nodes import origin
from autograph_torch.source.skeleton import (
    binds_weaker,
    inside,
    is_thunk,
    stand_in,
    stand_in_text,
    substitute,
    unparse,
)
from autograph_torch.source.wrapping import Wrapping

_NEWLINE = re.compile(r"\r\n|\r|\n")
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_TAKES_BARE_TUPLE = (gast.Assign, gast.Return, gast.For, gast.AsyncFor)
_OPEN_TO_ALL = (gast.Name, gast.Starred, gast.Slice, gast.FormattedValue)


class Splice(NamedTuple):
    """A changed expression: `new` takes the bytes of `old`, both standing in `parent`."""

    new: gast.expr
    old: gast.expr
    parent: gast.AST


class Expressions:
    """Texts of expressions, given which nodes are pristine."""

    def __init__(self, source: SourceFile, pristine: set[int], copier: Copier, copying: bool = True) -> None:
        self.source = source
        self.pristine = pristine
        self.copier = copier
        self.copying = copying
        self.wrapping = Wrapping(source, self.text, self.is_old, self.listed, self.broken_inside)

    def fitted(self, node: gast.expr, indent: str, before: int, after: int = 0, bare: bool = False) -> str:
        """The text for a place with `before` columns to its left and `after` columns to its right."""
        return self.wrapping.fitted(node, indent, before, after, bare)

    def text(self, node: gast.expr, indent: str, bare: bool = False) -> str:
        """The text on a line indented by `indent`; with `bare` a tuple may come without parentheses."""
        if self.copying and id(node) in self.pristine and self._has_span(node):
            return self._old_text(node, indent, bare)
        old = origin(node)
        splices = self.splices(node, old) if self.copying and old is not None else None
        if splices is not None and (not isinstance(node, gast.Tuple) or self._bracketed(old)):
            return self._closed(old, self.spliced(*self.source.span(old), splices, indent, flat=True), indent)
        if isinstance(node, gast.Constant) and isinstance(node.value, str):
            return self._string(node)
        if isinstance(node, gast.JoinedStr):
            return self._formatted(node)
        if isinstance(node, gast.NamedExpr):  # ast.unparse puts every value in parentheses
            value = self.text(node.value, indent)
            return f"{node.target.id} := " + (f"({value})" if _is_open(node.value) else value)
        if is_thunk(node):
            body = self.text(node.body, indent)
            return f"lambda: ({body})" if binds_weaker(node, node.body) else f"lambda: {body}"
        if bare and isinstance(node, gast.Tuple) and len(node.elts) > 1:
            return ", ".join(self.text(element, indent) for element in node.elts)
        return self.printed(node, indent)

    def with_comments(self, comments: Sequence[tuple[gast.expr, str]], text: Callable[[], str]) -> str:
        """What `text` gives, with comments above the lines of these arguments."""
        self.wrapping.comments = comments
        try:
            return text()
        finally:
            self.wrapping.comments = ()

    def broken_inside(self, node: gast.expr, indent: str) -> str | None:
        """The old text of an expression, with what has changed in it broken as in its old place; None without one."""
        old = origin(node)
        splices = self.splices(node, old) if self.copying and isinstance(old, gast.expr) else None
        if not splices:
            return None
        assert old is not None
        return self._closed(old, self.spliced(*self.source.span(old), splices, indent), indent)

    def listed(self, node: gast.expr, indent: str) -> str | None:
        """Old text that runs over lines and has no brackets around it, for a line of its own; None for any other."""
        if (
            not self.copying
            or id(node) not in self.pristine
            or not self._has_span(node)
            or isinstance(node, gast.Tuple)
        ):
            return None
        start, end = self.source.span(node)
        if not self._breaks(start, end) or self._has_brackets(start, end):
            return None
        old_indent = self.source.indent(self.source.line_number(start))
        text = self.copier.copy(start, end, old_indent, indent)
        return self._aligned(text, start, end, indent)

    def _aligned(self, text: str, start: int, end: int, indent: str) -> str:
        """Strings one below the other, where there is nothing else."""
        tokens = itertools.takewhile(lambda token: token.start < end, self.source.tokens.after(start))
        if any(token.kind not in ("STRING", "NL") or "\n" in token.text.strip() for token in tokens):
            return text
        return f"{self.source.newline}{indent}".join(line.strip() for line in _NEWLINE.split(text))

    def printed(self, node: Any, indent: str) -> str:
        """New text for a node of any kind; old sub-expressions keep theirs."""
        texts: dict[str, str] = {}
        numbers = itertools.count()

        def choose(child: gast.expr) -> gast.expr | None:
            if isinstance(child, _OPEN_TO_ALL) or not self._has_text(child):
                return None
            number, text = next(numbers), self.text(child, indent)
            texts[stand_in_text(child, number)] = text
            if isinstance(child, gast.GeneratorExp):
                texts[f"({stand_in_text(child, number)})"] = text  # as the only argument of a call
            return stand_in(child, number)

        return substitute(unparse(inside(node, choose)), texts)

    def spliced(self, start: int, end: int, splices: list[Splice], indent: str, flat: bool = False) -> str:
        """The old text of a span with the changed expressions in it replaced; with `flat` these are not broken."""
        parts: list[str] = []
        old_indent = self.source.indent(self.source.line_number(start))
        for splice in sorted(splices, key=lambda splice: self.source.span(splice.old)):
            left, right = self._span(splice)
            parts.append(self.copier.copy(start, left, old_indent, indent))
            here = self.source.indent(self.source.line_number(left))
            deeper = here[len(old_indent) :] if here.startswith(old_indent) else ""
            parts.append(self._replacement(splice, left, right, indent + deeper, flat))
            start = right
        return "".join(parts) + self.copier.copy(start, end, old_indent, indent)

    def splices(self, new: Any, old: Any, skipped: Collection[str] = ()) -> list[Splice] | None:
        """What to replace in the text of `old` to get `new`; None where that is not enough."""
        if type(new) is not type(old) or isinstance(new, gast.JoinedStr):
            return None
        found: list[Splice] = []
        for field in set(new._fields).difference(skipped):
            for new_child, old_child in _pairs(getattr(new, field, None), getattr(old, field, None)):
                inner = self._child_splices(new, new_child, old_child)
                if inner is None:
                    return None
                found += inner
        return found

    def header_splices(self, new: Any, old: Any) -> list[Splice] | None:
        """The same for the header of a compound statement."""
        if isinstance(old, gast.ExceptHandler):  # its name has no location, so it cannot be replaced
            same_name = getattr(new.name, "id", None) == getattr(old.name, "id", None)
            return self.splices(new, old, (*FIELDS, "name")) if same_name else None
        return self.splices(new, old, FIELDS)

    def _child_splices(self, parent: Any, new: Any, old: Any) -> list[Splice] | None:
        if new is old or not isinstance(new, gast.AST) or not isinstance(old, gast.AST):
            return [] if new is old or (type(new) is type(old) and repr(new) == repr(old)) else None
        if isinstance(new, (gast.expr_context, gast.operator, gast.unaryop, gast.boolop, gast.cmpop)):
            return [] if type(new) is type(old) else None
        inner = self.splices(new, old)
        if inner is None and isinstance(new, gast.expr) and isinstance(old, gast.expr) and self._has_span(old):
            return [Splice(new, old, parent)]
        return inner

    def _span(self, splice: Splice) -> tuple[int, int]:
        """What gives way: the old expression, with parentheses around it that a call needs no more."""
        left, right = self.source.span(splice.old)
        opening, closing = self.source.tokens.previous_code(left), self.source.tokens.next_code(right)
        if not isinstance(splice.new, gast.Call) or isinstance(stand_in(splice.old, 0), gast.Name):
            return left, right
        if opening is None or (opening.text, closing.text) != ("(", ")") or self._is_call(opening.start):
            return left, right
        between = self.source.slice(opening.end, left) + self.source.slice(right, closing.start)
        return (left, right) if between.strip() else (opening.start, closing.end)  # comments stay where they are

    def _replacement(self, splice: Splice, left: int, right: int, indent: str, flat: bool) -> str:
        line_start = self.source.starts[self.source.line_number(left) - 1]
        before = len(indent) + len(self.source.slice(line_start, left).lstrip())
        line_end = self.source.line_end(self.source.line_number(right))
        after = len(self.source.slice(right, line_end).split("#")[0].rstrip())
        bare = isinstance(splice.parent, _TAKES_BARE_TUPLE)
        text = self.text(splice.new, indent, bare) if flat else self.fitted(splice.new, indent, before, after, bare)
        # The span of a generator that is the only argument of a call includes the parentheses of the call.
        takes_parentheses = isinstance(splice.old, gast.GeneratorExp) and not isinstance(splice.new, gast.GeneratorExp)
        if takes_parentheses or self._needs_parentheses(splice, left, right):
            text = f"({text})"
        neighbours = (self.source.utf8[left - 1 : left], self.source.utf8[right : right + 1])
        return _apart(text, *(byte.decode(errors="replace") for byte in neighbours))

    def _needs_parentheses(self, splice: Splice, left: int, right: int) -> bool:
        previous = self.source.tokens.previous_code(left)
        if previous is not None and previous.text == "(" and self.source.tokens.next_code(right).text == ")":
            return False
        return binds_weaker(splice.parent, splice.new)

    def is_old(self, node: gast.expr) -> bool:
        """The text is the user's, with the lines that it has."""
        old = origin(node)
        if not self.copying or (id(node) in self.pristine and self._has_span(node)):
            return self.copying
        if old is None or self.splices(node, old) is None:
            return False
        return bool(old.lineno != old.end_lineno)

    def _has_span(self, node: gast.AST) -> bool:
        return getattr(node, "end_lineno", None) is not None

    def _has_text(self, node: gast.expr) -> bool:
        """The text of the node is not simply what `ast.unparse` makes of it."""
        if id(node) in self.pristine:
            return self.copying and self._has_span(node)
        is_string = isinstance(node, gast.JoinedStr) or (
            isinstance(node, gast.Constant) and isinstance(node.value, str)
        )
        if is_string or is_thunk(node) or isinstance(node, gast.NamedExpr):
            return True
        return self.copying and origin(node) is not None and self.splices(node, origin(node)) is not None

    def _old_text(self, node: gast.expr, indent: str, bare: bool) -> str:
        start, end = self.source.span(node)
        old_indent = self.source.indent(self.source.line_number(start))
        text = self.copier.copy(start, end, old_indent, indent)
        open_tuple = isinstance(node, gast.Tuple) and not self._bracketed(node) and not _has_slice(node)
        if open_tuple and (not bare or self._breaks(start, end)):
            return f"({text})"
        return self._closed(node, text, indent)

    def _closed(self, old: gast.expr, text: str, indent: str) -> str:
        """Text that runs over lines outside brackets gets brackets, its own ones if it has them in the source."""
        start, end = self.source.span(old)
        if not self._breaks(start, end):
            return text
        if not self._has_brackets(start, end):
            return f"({text})"
        left, right = self.source.tokens.previous_code(start), self.source.tokens.next_code(end)
        assert left is not None
        old_indent = self.source.indent(self.source.line_number(start))
        opening = self.copier.copy(left.start, start, old_indent, indent)
        return opening + text + self.copier.copy(end, right.end, old_indent, indent)

    def _has_brackets(self, start: int, end: int) -> bool:
        """The parentheses around a span are there for it alone."""
        left, right = self.source.tokens.previous_code(start), self.source.tokens.next_code(end)
        return left is not None and (left.text, right.text) == ("(", ")") and not self._is_call(left.start)

    def _is_call(self, parenthesis: int) -> bool:
        before = self.source.tokens.previous_code(parenthesis)
        if before is None or before.kind == "OP":
            return before is not None and before.text in (")", "]", "}")
        return before.end == parenthesis or not keyword.iskeyword(before.text)

    def _string(self, node: gast.Constant) -> str:
        """A new string, with the quotes that the file prefers."""
        text = unparse(node)
        plain = text.startswith("'") and '"' not in text
        return f'"{text[1:-1]}"' if plain and self.source.quote == '"' else text

    def _formatted(self, node: gast.JoinedStr) -> str:
        """A new formatted string, with the quotes that the file prefers; before Python 3.12 none may be used inside."""
        text = unparse(node)
        body = text[2:-1]
        quotes = (self.source.quote, '"', "'", '"""')
        fitting = next((quote for quote in quotes if quote not in body and not body.endswith(quote[0])), None)
        is_plain = not text.startswith(('f"""', "f'''")) and "\\" not in body
        return f"f{fitting}{body}{fitting}" if is_plain and fitting is not None else text

    def _breaks(self, start: int, end: int) -> bool:
        """A line ends between `start` and `end` outside all brackets of that span."""
        depth = 0
        for token in self.source.tokens.after(start):
            if token.start >= end:
                break
            depth += _BRACKETS.get(token.text, 0) if token.kind == "OP" else 0
            if token.kind == "NL" and depth == 0:
                return True
        return False

    def _bracketed(self, node: gast.expr) -> bool:
        """The parentheses of a tuple are part of its span."""
        start, end = self.source.span(node)
        depth = 0
        for token in self.source.tokens.after(start):
            depth += _BRACKETS.get(token.text, 0) if token.kind == "OP" else 0
            if depth == 0:
                return token.end == end and token.text == ")"
        return False


def _pairs(new: Any, old: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        yield from zip(new, old, strict=True)
    else:
        yield new, old


def _is_open(node: gast.expr) -> bool:
    """A value that a walrus takes only in parentheses."""
    return isinstance(node, (gast.NamedExpr, gast.Yield, gast.YieldFrom))


def _has_slice(node: gast.Tuple) -> bool:
    return any(isinstance(element, gast.Slice) for element in node.elts)


def _apart(text: str, before: str, after: str) -> str:
    """Keep words from growing together, as in `1if x else y`."""
    left = " " if _is_word(before) and _is_word(text[:1]) else ""
    return left + text + (" " if _is_word(after) and _is_word(text[-1:]) else "")


def _is_word(character: str) -> bool:
    return character.isalnum() or character in ("_", '"', "'")
