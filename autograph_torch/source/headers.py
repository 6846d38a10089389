"""The headers of compound statements, from `if`, `def` or `case` up to the colon, with decorators."""

from __future__ import annotations

from typing import Any

import gast

from autograph_torch.source.copying import Copier
from autograph_torch.source.expressions import Expressions
from autograph_torch.source.layout import Clause, Layout
from autograph_torch.source.skeleton import header_only, is_plain, unparse

_WORDS = {"orelse": "else", "finalbody": "finally"}
_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)


class Headers:
    """Prints headers. `keyword` is `elif` where an `if` goes on a chain, and empty otherwise."""

    def __init__(self, expressions: Expressions, copier: Copier, layout: Layout) -> None:
        self.expressions = expressions
        self.copier = copier
        self.layout = layout
        self.source = copier.source

    def derived(self, owner: Any, old: Any, name: str, clause: Clause, indent: str, keyword: str) -> str:
        """An old header, with changed expressions replaced."""
        splices = [] if name in _WORDS else self.expressions.header_splices(owner, old)
        if splices is None:
            return self.new(owner, name, indent, keyword)
        if not isinstance(owner, gast.If) or name in _WORDS:
            return indent + self.expressions.spliced(clause.start, clause.colon, splices, indent)
        start = self.layout.after_if(clause.start)
        return indent + (keyword or "if") + self.expressions.spliced(start, clause.colon, splices, indent)

    def new(self, owner: Any, name: str, indent: str, keyword: str = "", star: str = "") -> str:
        """A printed header; `star` is `*` for the handlers of `except*`."""
        if name in _WORDS:
            return f"{indent}{_WORDS[name]}:"
        decorators = "".join(self._decorator(node, indent) for node in getattr(owner, "decorator_list", ()))
        text = self._text(owner, indent, star)
        if keyword:
            text = keyword + text.removeprefix("if")
        if isinstance(owner, _FUNCTIONS) and len(indent + text) > self.source.line_limit:
            text = self._with_parameters_below(owner, text, indent)
        return decorators + indent + text

    def _decorator(self, node: gast.expr, indent: str) -> str:
        return f"{indent}@{self.expressions.fitted(node, indent, len(indent) + 1)}{self.source.newline}"

    def _text(self, owner: Any, indent: str, star: str) -> str:
        text = self.expressions.text
        if isinstance(owner, (gast.For, gast.AsyncFor)):
            word = "async for" if isinstance(owner, gast.AsyncFor) else "for"
            return f"{word} {text(owner.target, indent, bare=True)} in {text(owner.iter, indent)}:"
        if isinstance(owner, gast.ExceptHandler):
            name = f" as {owner.name.id}" if owner.name else ""
            return f"except{star} {text(owner.type, indent)}{name}:" if owner.type else "except:"
        if isinstance(owner, gast.match_case):
            guard = f" if {text(owner.guard, indent)}" if owner.guard else ""
            return f"case {unparse(owner.pattern)}{guard}:"
        if hasattr(owner, "handlers"):
            return "try:"
        printed = self.expressions.printed(header_only(owner), indent).strip()
        return printed if isinstance(owner, gast.Match) else printed.rsplit("\n", 1)[0]

    def _with_parameters_below(self, owner: Any, text: str, indent: str) -> str:
        """Break the parameters of a new function: all on one line if they fit there or are no mere names."""
        arguments = owner.args
        inner = indent + self.source.indent_unit
        whole = unparse(arguments)
        is_one_line = not is_plain(arguments) or len(inner + whole) <= self.source.line_limit
        lines = [inner + whole] if is_one_line else [f"{inner}{node.id}," for node in arguments.args]
        head, _, tail = text.partition(f"({whole})")
        return self.source.newline.join([head + "(", *lines, f"{indent}){tail}"]) if tail else text
