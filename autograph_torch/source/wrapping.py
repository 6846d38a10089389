"""Breaking new expressions that do not fit, as black and ruff do: the arguments on one line of their own if they fit
there, else one a line, with a trailing comma. Lambdas, which are branches mostly, have a line each.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence

import gast

from autograph_torch.source.file import SourceFile
from autograph_torch.source.skeleton import binds_weaker, is_plain, is_thunk, stand_in, unparse

Flat = Callable[[gast.expr, str, bool], str]
Placed = Callable[[gast.expr, str], "str | None"]

_WORDS = re.compile(r"\S*\s+|\S+")
_NEWLINE = re.compile(r"[\r\n]")
_NEED_PARENTHESES = (gast.IfExp, gast.Lambda, gast.NamedExpr, gast.Yield, gast.YieldFrom)
_BRACKETS = {gast.Tuple: "()", gast.List: "[]", gast.Set: "{}"}


class Wrapping:
    """`flat(node, indent, bare)` is the unbroken text of an expression; what `is_old` keeps the lines it has.

    `listed(node, indent)` is old text that runs over lines and begins one of its own, where brackets hold it together.
    `inside(node, indent)` is old text in which the parts that are new are broken.
    """

    def __init__(
        self, source: SourceFile, flat: Flat, is_old: Callable[[gast.expr], bool], listed: Placed, inside: Placed
    ) -> None:
        self.source = source
        self.flat = flat
        self.is_old = is_old
        self.listed = listed
        self.inside = inside
        self.comments: Sequence[tuple[gast.expr, str]] = ()
        """Comments to print above arguments that have a line of their own."""

    def fitted(self, node: gast.expr, indent: str, before: int, after: int = 0, bare: bool = False) -> str:
        """Flat if that fits between `before` and `after` columns, otherwise broken if it can be broken."""
        text = self.flat(node, indent, bare)
        limit = self.source.line_limit
        if before + len(text) + after <= limit and "\n" not in text and "\r" not in text:
            return text
        if self.is_old(node):
            lines = (" " * before + text).splitlines()
            return text if max(map(len, lines)) <= limit else self.inside(node, indent) or text
        return self._broken(node, indent) or self.inside(node, indent) or text

    def _broken(self, node: gast.expr, indent: str) -> str | None:
        if isinstance(node, gast.Call) and (node.args or node.keywords):
            only = _only_argument(node)
            if isinstance(only, (gast.Name, gast.Constant)):
                return None  # three lines for `f(x)` would not be easier to read
            if isinstance(only, gast.GeneratorExp) and not self.is_old(only):
                return self._comprehension(only, f"{self._operand(node.func, indent)}(", ")", indent)
            return self._items(f"{self._operand(node.func, indent)}(", self._arguments(node), ")", indent)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
            inner = self._broken(node.func.value, indent) if isinstance(node.func.value, gast.Call) else None
            return f"{inner}.{node.func.attr}()" if inner else None
        if isinstance(node, (gast.Tuple, gast.List, gast.Set)) and node.elts:
            brackets = _BRACKETS[type(node)]
            return self._items(brackets[0], [("", element) for element in node.elts], brackets[1], indent)
        if isinstance(node, gast.ListComp):
            return self._comprehension(node, "[", "]", indent)
        if isinstance(node, gast.Lambda):
            return self._lambda(node, indent)
        if isinstance(node, gast.BoolOp):
            return self._lines(_operands(node), indent, node)
        if isinstance(node, gast.IfExp):
            return self._lines([("", node.body), ("if ", node.test), ("else ", node.orelse)], indent, node)
        if isinstance(node, gast.Await) and (inner := self._broken(node.value, indent)):
            return f"await {inner}"
        return None

    def _operand(self, func: gast.expr, indent: str) -> str:
        text = self.flat(func, indent, False)
        return text if isinstance(stand_in(func, 0), gast.Name) else f"({text})"

    @staticmethod
    def _arguments(node: gast.Call) -> list[tuple[str, gast.expr]]:
        keywords = [(f"{item.arg}=" if item.arg else "**", item.value) for item in node.keywords]
        return [("", argument) for argument in node.args] + keywords

    def _items(self, opening: str, items: list[tuple[str, gast.expr]], closing: str, indent: str) -> str:
        inner = indent + self.source.indent_unit
        joined = ", ".join(prefix + self._in_parentheses(item, self.flat(item, inner, False)) for prefix, item in items)
        is_tuple_of_one = opening == "(" and len(items) == 1  # its comma is not to be missed
        if not is_tuple_of_one and not any(isinstance(item, gast.Lambda) for _, item in items):
            if len(inner + joined) <= self.source.line_limit and not _NEWLINE.search(joined):
                return self.source.newline.join([opening, inner + joined, indent + closing])
        lines = [opening]
        for prefix, item in items:
            lines += [inner + comment for about, comment in self.comments if about is item]
            lines.append(f"{inner}{prefix}{self._item(item, inner, len(inner) + len(prefix))},")
        return self.source.newline.join([*lines, indent + closing])

    def _item(self, item: gast.expr, indent: str, before: int) -> str:
        if isinstance(item, gast.Starred):
            return "*" + self._item(item.value, indent, before + 1)
        own_line = before == len(indent)
        if own_line and (listed := self.listed(item, indent)) is not None:
            return listed
        if own_line and isinstance(item, gast.BoolOp) and not self.is_old(item) and self._is_too_long(item, indent):
            return f"{self.source.newline}{indent}".join(self._parts(_operands(item), indent, item))
        text = self.fitted(item, indent, before, 1)
        if own_line and before + len(text) >= self.source.line_limit and _is_string(item) and not self.is_old(item):
            return self._string(item.value, indent)
        return self._in_parentheses(item, text)

    @staticmethod
    def _in_parentheses(item: gast.expr, text: str) -> str:
        """The text of an argument, in parentheses where it needs them."""
        needs = isinstance(item, (gast.Yield, gast.YieldFrom, gast.NamedExpr)) and not text.startswith("(")
        return f"({text})" if needs else text

    def _string(self, value: str, indent: str) -> str:
        """A string as several, one a line; they are parted behind spaces."""
        pieces = [""]
        for word in _WORDS.findall(value):
            longer = self.flat(gast.Constant(pieces[-1] + word, None), indent, False)
            fits = len(indent) + len(longer) < self.source.line_limit
            pieces = [*pieces[:-1], pieces[-1] + word] if fits or not pieces[-1] else [*pieces, word]
        lines = (self.flat(gast.Constant(piece, None), indent, False) for piece in pieces)
        return f"{self.source.newline}{indent}".join(lines)

    def _comprehension(self, node: gast.GeneratorExp | gast.ListComp, opening: str, closing: str, indent: str) -> str:
        inner = indent + self.source.indent_unit
        lines = [opening, inner + self._item(node.elt, inner, len(inner))]
        for part in node.generators:
            word = "async for" if part.is_async else "for"
            target = self.flat(part.target, inner, True)
            lines.append(f"{inner}{word} {target} in {self._closed(part.iter, inner)}")
            lines += [f"{inner}if {self._closed(test, inner)}" for test in part.ifs]
        return self.source.newline.join([*lines, indent + closing])

    def _closed(self, node: gast.expr, indent: str) -> str:
        """The text for a place where a condition or a lambda needs parentheses."""
        text = self.flat(node, indent, False)
        return f"({text})" if isinstance(node, _NEED_PARENTHESES) else text

    def _lambda(self, node: gast.Lambda, indent: str) -> str:
        head = self._lambda_head(node, indent)
        if self.is_old(node.body):
            text = self.flat(node.body, indent, False)
            return head + (text if "\n" in text or "\r" in text else self._lines([("", node.body)], indent, node))
        return head + (self._broken(node.body, indent) or self._lines([("", node.body)], indent, node))

    def _lambda_head(self, node: gast.Lambda, indent: str) -> str:
        """`lambda a, b: `; more parameters than fit on a line go on below the first."""
        if is_thunk(node):
            return "lambda: "
        head = unparse(gast.Lambda(node.args, gast.Constant(0, None)))[:-1]
        width = self.source.line_limit - len(indent)
        if len(head) <= width or not is_plain(node.args):
            return head
        lines = textwrap.wrap(head, width - 1, break_long_words=False, subsequent_indent=" " * len("lambda "))
        return f"{self.source.newline}{indent}".join(lines) + " "

    def _lines(self, parts: list[tuple[str, gast.expr]], indent: str, whole: gast.expr) -> str:
        """The parts of `whole`, one a line, in parentheses."""
        inner = indent + self.source.indent_unit
        lines = [inner + text for text in self._parts(parts, inner, whole)]
        return self.source.newline.join(["(", *lines, indent + ")"])

    def _parts(self, parts: list[tuple[str, gast.expr]], indent: str, whole: gast.expr) -> Iterator[str]:
        for prefix, part in parts:
            text = self.fitted(part, indent, len(indent) + len(prefix))
            yield prefix + (f"({text})" if binds_weaker(whole, part) else text)

    def _is_too_long(self, item: gast.expr, indent: str) -> bool:
        text = self.flat(item, indent, False)
        return len(indent + text) >= self.source.line_limit and not _NEWLINE.search(text)


def _operands(node: gast.BoolOp) -> list[tuple[str, gast.expr]]:
    """The operands, each with the word in front of it."""
    word = "or " if isinstance(node.op, gast.Or) else "and "
    return [("", node.values[0]), *((word, value) for value in node.values[1:])]


def _is_string(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, str)


def _only_argument(node: gast.Call) -> gast.expr | None:
    return node.args[0] if len(node.args) == 1 and not node.keywords else None
