"""The text of statements in their new order and depth.

Runs of pristine statements are copied line by line with the comments and blank lines that the layout gives them. A
compound statement derived from an old one keeps its headers and is printed block by block. What is wholly new is
printed, below the comments that stood above what it replaces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import gast

from autograph_torch.source.comments import Notes, is_for_a_tool
from autograph_torch.source.copying import Copier
from autograph_torch.source.expressions import Expressions, Splice
from autograph_torch.source.file import SourceFile
from autograph_torch.source.headers import Headers
from autograph_torch.source.layout import Clause, Layout, Place, clauses_of
from autograph_torch.source.nodes import origin
from autograph_torch.source.simple import SimpleStatements

_LEADING_BLANK_LINES = re.compile(r"(?:[ \t\f]*(?:\r\n|\r|\n))*")


class Blocks:
    """Prints the statements of one rewritten function."""

    def __init__(self, source: SourceFile, layout: Layout, pristine: set[int], notes: Notes, copying: bool) -> None:
        self.source = source
        self.layout = layout
        self.pristine = pristine
        self.notes = notes
        self.copier = Copier(source)
        self.expressions = Expressions(source, pristine, self.copier, copying)
        self.headers = Headers(self.expressions, self.copier, layout)
        self.simple = SimpleStatements(self.expressions, self.copier, notes)
        self.printed: list[gast.stmt] = []
        self.led: set[int] = set()
        """Leads that have been printed: what stood above a statement is printed once, above its first heir."""
        self.parted: set[int] = set()
        """Leads of which the blank lines have been printed."""

    def block(self, statements: Sequence[gast.stmt], indent: str) -> str:
        """The lines of a block."""
        parts: list[str] = []
        index = 0
        while index < len(statements):
            run = self._run(statements, index, indent)
            parts.append(self._copied(run, indent) if run else self.statement(statements[index], indent))
            index += len(run) or 1
        if parts and not self._was_first(statements[0]):
            parts[0] = _without_blank_lines(parts[0])
        return "".join(parts)

    def _was_first(self, node: gast.stmt) -> bool:
        """The statement stood first in its block, so that blank lines above it were meant to open the block."""
        place = self._place(node)
        return place is not None and place.index == 0 and not self.layout.is_elif(place)

    def _place(self, node: gast.stmt) -> Place | None:
        """Where the statement, or the one that it comes from, stands in the source."""
        return self.layout.place(node) or self.layout.place(origin(node))

    def _run(self, statements: Sequence[gast.stmt], first: int, indent: str) -> Sequence[gast.stmt]:
        """The longest run from `first` on of old lines that stood one after another."""
        end = first
        while end < len(statements) and self._is_copy(statements[end], indent):
            if end > first and not self._follows(statements[end - 1], statements[end]):
                break
            end += 1
        return statements[first:end]

    def _is_copy(self, node: gast.stmt, indent: str) -> bool:
        splices = self._splices(node)
        if splices is None or self.notes.touches(node):
            return False
        return not splices or not self.simple.has_outgrown(
            origin(node), self.layout.places[id(origin(node))], splices, indent
        )

    def _splices(self, node: gast.stmt) -> list[Splice] | None:
        """What changes in the old lines of a statement: nothing if it is pristine; None if lines are not enough."""
        if id(node) in self.pristine and self.layout.place(node):
            return []
        old = origin(node)
        is_simple = next(clauses_of(node), None) is None
        return self.expressions.splices(node, old) if is_simple and self.layout.place(old) else None

    def _follows(self, first: gast.stmt, second: gast.stmt) -> bool:
        one, two = self._place(first), self._place(second)
        return one is not None and two is not None and (one.block, one.index + 1) == (two.block, two.index)

    def _copied(self, run: Sequence[gast.stmt], indent: str) -> str:
        first, last = (self.layout.places[id(origin(node) or node)] for node in (run[0], run[-1]))
        if any(node is run[0] for node in self.printed):
            self.led.discard(first.lead)  # each copy of a statement has its comments
        self.printed += run
        if self.layout.is_elif(first):
            return self._copied_if(first, indent, "if")
        splices = [splice for node in run for splice in self._splices(node) or ()]
        text = self.expressions.spliced(first.start, last.end, splices, indent)
        return self._lead(first, indent) + indent + self.copier.line_ended(text)

    def _copied_if(self, place: Place, indent: str, keyword: str) -> str:
        """An `elif` as `if`, or the other way round."""
        rest = self.copier.whole_lines(self.layout.after_if(place.start), place.end, place.indent, indent)
        return self._lead(place, indent) + indent + keyword + rest

    def statement(self, node: gast.stmt, indent: str, keyword: str = "") -> str:
        """A statement that is not copied as it is; `keyword` is `elif` where it goes on a chain."""
        self.printed.append(node)
        old = origin(node) or node
        place = self.layout.place(old)
        same = place is not None and type(old) is type(node)
        clause = None if same or place is None else self._clause_of(getattr(node, "body", ()), old)
        lead = self._lead(place, indent) if place and (clause is None or clause.start == place.start) else ""
        if clause is None and isinstance(old, gast.If) and isinstance(node, gast.FunctionDef):
            lead = self._blank_part(place, lead)
        if next(clauses_of(node), None) is not None:
            derived = self._derived_compound(node, old, indent, keyword) if same else None
            text = derived or self._new_compound(node, clause, indent, keyword)
        else:
            text = self.simple.derived(node, old, place, indent) if same and place else self.simple.new(node, indent)
        return lead + self._notes(self.notes.above, node, indent) + text + self._notes(self.notes.below, node, indent)

    def _notes(self, notes: dict[int, list[str]], node: gast.stmt, indent: str) -> str:
        return "".join(f"{indent}{comment}{self.source.newline}" for comment in notes.get(id(node), ()))

    def _lead(self, place: Place | Clause, indent: str) -> str:
        """Comments and blank lines above an old statement or clause, the first time that they are asked for."""
        number = self.source.line_number(place.start)
        line = self.source.indent_start(number)
        if place.lead in self.led or place.lead >= line or not place.own_line:
            return ""
        self.led.add(place.lead)
        text = self.copier.copy(place.lead, line, self.source.indent(number), indent)
        return _without_blank_lines(text) if place.lead in self.parted else text

    def _blank_part(self, place: Place | None, lead: str) -> str:
        """The blank lines alone: comments above an `if` are not about a function of what follows that `if`."""
        blank = _LEADING_BLANK_LINES.match(lead)
        if place is None or blank is None or blank.group() == lead:
            return lead
        self.led.discard(place.lead)
        self.parted.add(place.lead)
        return blank.group()

    def _derived_compound(self, node: gast.stmt, old: Any, indent: str, keyword: str) -> str:
        parts: list[str] = []
        if isinstance(node, gast.Match):
            clause = self.layout.clauses[id(old), "cases"]
            parts.append(self.headers.derived(node, old, "cases", clause, indent, ""))
            parts.append(self.copier.whole_lines(clause.colon, clause.body, indent, indent))
        for owner, name, statements in clauses_of(node):
            old_clause = self.layout.clause(origin(owner) or owner, name)
            if old_clause is not None and not old_clause.is_elif:
                base = self.layout.places[id(old)].indent
                parts.append(self._clause(owner, name, statements, old_clause, base, indent, keyword))
            else:
                parts.append(self._new_clause(node, owner, name, statements, indent, keyword))
        return "".join(parts)

    def _clause(
        self, owner: Any, name: str, block: Sequence[gast.stmt], clause: Clause, base: str, indent: str, keyword: str
    ) -> str:
        """A clause that was there before, with its header and perhaps another block."""
        old = origin(owner) or owner
        old_indent = self.source.indent(self.source.line_number(clause.start))
        indent += old_indent[len(base) :]
        header = self._lead(clause, indent) + self.headers.derived(owner, old, name, clause, indent, keyword)
        if not clause.inline:
            header += self.copier.whole_lines(clause.colon, clause.body, indent, indent)
            return header + self.block(block, indent + self._step(clause))
        if self._run(block, 0, indent) == getattr(old, name) == block:
            self.printed += block
            return header + self.copier.whole_lines(clause.colon, clause.end, old_indent, indent)
        return header + self.source.newline + self.block(block, indent + self.source.indent_unit)

    def _step(self, clause: Clause) -> str:
        """How much deeper a block is in the source than its header, so that moved lines can stay as they are."""
        outer = self.source.indent(self.source.line_number(clause.start))
        inner = self.layout.places[id(self.layout.blocks[clause][0])].indent
        return inner[len(outer) :] if inner.startswith(outer) and inner != outer else self.source.indent_unit

    def _new_compound(self, node: gast.stmt, clause: Clause | None, indent: str, keyword: str) -> str:
        """A new compound statement; `clause` is the one whose block it takes over, with the comments around it."""
        parts = [_without_blank_lines(self._lead(clause, indent)) if clause else ""]
        comments = [self._header_comment(clause)] if clause else []
        step = self._step(clause) if clause else ""
        if isinstance(node, gast.Match):
            parts.append(self.headers.new(node, "cases", indent) + self.source.newline)
        comment = "  ".join(filter(None, [*self.notes.tools.get(id(node), ()), *comments]))
        for owner, name, statements in clauses_of(node):
            parts.append(self._new_clause(node, owner, name, statements, indent, keyword, comment, step))
            comment = ""
        return "".join(parts)

    def _header_comment(self, clause: Clause) -> str:
        """The comment of an old header, but for one that is about its test, which has gone elsewhere."""
        found = self.source.tokens.comments(clause.colon, clause.body)[:1]
        has_test = self.source.tokens.next_code(clause.start).text not in ("else", "try", "finally")
        if has_test and any(is_for_a_tool(comment.text) for comment in found):
            return ""
        return self.copier.comment(clause.colon, clause.body)

    def _new_clause(
        self,
        node: Any,
        owner: Any,
        name: str,
        statements: Sequence[gast.stmt],
        indent: str,
        keyword: str,
        comment: str = "",
        step: str = "",
    ) -> str:
        if name == "orelse" and isinstance(node, gast.If) and [type(it) for it in statements] == [gast.If]:
            return self._chained(statements[0], indent)
        if isinstance(owner, gast.match_case):
            indent += self.source.indent_unit
        star = "*" if type(node).__name__ == "TryStar" else ""
        header = self.headers.new(owner, name, indent, keyword if owner is node else "", star)
        header += f"  {comment}" if comment else ""
        return header + self.source.newline + self.block(statements, indent + (step or self.source.indent_unit))

    def _chained(self, node: gast.stmt, indent: str) -> str:
        """An `if` as the `elif` of a chain."""
        if not self._is_copy(node, indent):
            text = self.statement(node, indent, "elif")
        else:
            self.printed.append(node)
            text = self._copied_if(self.layout.places[id(node)], indent, "elif")
        place = self._place(node)
        return text if place and self.layout.is_elif(place) else _without_blank_lines(text)

    def _clause_of(self, statements: Sequence[gast.stmt], old: gast.AST) -> Clause | None:
        """The clause of `old` that a block comes from."""
        places = map(self._place, statements)
        keys = (place.block for place in places if place is not None and place.block[0] == id(old))
        clause = next((self.layout.clauses[key] for key in keys), None)
        return None if clause is None or clause.is_elif else clause


def _without_blank_lines(text: str) -> str:
    """Blank lines above a statement are no use where it has become the first of a block."""
    return _LEADING_BLANK_LINES.sub("", text, count=1)
