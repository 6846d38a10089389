"""Which bytes belong to which statement of a function.

The lines of a block are tiled: every comment and every blank line belongs to exactly one statement or clause, so that
copying the statements of a block one after another gives the block back to the last byte.

    # above            \\  lead: from the end of the statement before
    x = 1  # beside     > start .. stop: the node itself; the rest of its last line is its own as well
    # below            /  tail: comments below the last statement of a block, if as deep as the block
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from autograph_torch.source.file import SourceFile

BlockKey = tuple[int, str]

_TAB = 8
FIELDS = ("body", "handlers", "cases", "orelse", "finalbody")


@dataclass(frozen=True)
class Place:
    """Where a statement stands."""

    block: BlockKey
    index: int
    lead: int
    start: int
    stop: int
    end: int
    indent: str
    own_line: bool
    """The statement is the first of its line; otherwise it follows a `;` or the colon of a header."""


@dataclass(frozen=True)
class Clause:
    """A header up to its colon, and the block below it."""

    own_line = True

    lead: int
    start: int
    colon: int
    body: int
    end: int
    inline: bool
    is_elif: bool = False
    """The block is an `elif`: it has no header of its own."""


class Layout:
    """The places of all statements of a function, the clauses of all compound ones, and the blocks below these."""

    def __init__(self, source: SourceFile, function: gast.stmt) -> None:
        self.source = source
        self.places: dict[int, Place] = {}
        self.clauses: dict[BlockKey, Clause] = {}
        self.blocks: dict[Clause, Sequence[gast.stmt]] = {}
        start = self._start(function)
        lead = source.starts[source.line_number(start) - 1]
        self.end = self._statement(function, (0, ""), 0, lead, None)

    def place(self, node: gast.AST | None) -> Place | None:
        return self.places.get(id(node))

    def clause(self, owner: gast.AST, field: str) -> Clause | None:
        return self.clauses.get((id(owner), field))

    def is_elif(self, place: Place) -> bool:
        return self.source.utf8.startswith(b"elif", place.start) and self.after_if(place.start) == place.start + 4

    def after_if(self, start: int) -> int:
        """The end of the word `if` or `elif` that starts there."""
        return next(self.source.tokens.after(start)).end

    # Each of the following returns the offset where what it has placed ends.

    def _statement(
        self, node: gast.stmt, block: BlockKey, index: int, lead: int, following: gast.stmt | None, last: bool = False
    ) -> int:
        start = self._start(node)
        stop = self.source.span(node)[1]
        indent = self.source.indent(self.source.line_number(start))
        line_start = self.source.starts[self.source.line_number(start) - 1]
        fresh = lead == self.source.starts[self.source.line_number(lead) - 1]
        own_line = fresh and not self.source.utf8[line_start:start].strip()
        end = self._clauses(node, start) if hasattr(node, "body") or hasattr(node, "cases") else self._line_end(stop)
        if following is not None and self._start(following) < end:
            end = stop
        elif last and own_line:
            end = self._tail(end, width(indent))
        place = Place(block, index, lead, start, stop, end, indent, own_line)
        self.places[id(node)] = place
        return end

    def _clauses(self, node: gast.stmt, start: int) -> int:
        end = self._match_header(node, start) if isinstance(node, gast.Match) else start
        for owner, field, statements in clauses_of(node):
            token = self.source.tokens.next_code(end)
            if field == "orelse" and token.text == "elif":
                end = self._elif(owner, field, statements, end)
                continue
            header = start if owner is node and field == "body" else token.start
            colon = self.source.tokens.find(":", self._header_end(owner, field, header)).end
            end = self._block(owner, field, statements, end, header, colon)
        return end

    def _match_header(self, node: gast.Match, start: int) -> int:
        colon = self.source.tokens.find(":", self.source.span(node.subject)[1]).end
        end = self._line_end(colon)
        self.clauses[id(node), "cases"] = Clause(start, start, colon, end, end, False)
        return end

    def _elif(self, owner: Any, field: str, statements: Sequence[gast.stmt], lead: int) -> int:
        end = self._statement(statements[0], (id(owner), field), 0, lead, None)
        start = self.places[id(statements[0])].start
        self.clauses[id(owner), field] = Clause(lead, start, start, start, end, False, is_elif=True)
        return end

    def _block(
        self, owner: Any, field: str, statements: Sequence[gast.stmt], lead: int, header: int, colon: int
    ) -> int:
        inline = self._start(statements[0]) < self._line_end(colon)
        body = end = self._start(statements[0]) if inline else self._line_end(colon)
        for index, statement in enumerate(statements):
            following = statements[index + 1] if index + 1 < len(statements) else None
            end = self._statement(statement, (id(owner), field), index, end, following, last=following is None)
        clause = Clause(lead, header, colon, body, end, inline)
        self.clauses[id(owner), field] = clause
        self.blocks[clause] = statements
        return end

    def _start(self, node: gast.AST) -> int:
        decorators = getattr(node, "decorator_list", None)
        if not decorators:
            return self.source.span(node)[0]
        first = self.source.span(decorators[0])[0]
        return next(token.start for token in self.source.tokens.before(first) if token.text == "@")

    def _header_end(self, owner: Any, field: str, header: int) -> int:
        """An offset before the colon of the header, behind every colon of an expression in it."""
        if field != "body":
            return header
        ends = [self.source.span(node)[1] for node in header_nodes(owner)]
        return max([header, *ends])

    def _line_end(self, offset: int) -> int:
        """The end of the logical line that `offset` lies in, comment and newline included."""
        found = (token.end for token in self.source.tokens.after(offset) if token.kind == "NEWLINE")
        return next(found, len(self.source.utf8))

    def _tail(self, end: int, depth: int) -> int:
        """Include the comments below, as far as they are indented as deep as the block."""
        source, number = self.source, self.source.line_number(end)
        if end >= len(source.utf8):
            return end
        while number <= len(source.starts):
            text = source.line(number).strip()
            if text and not (text.startswith(b"#") and width(source.indent(number)) >= depth):
                break
            number += 1
            end = source.line_end(number - 1) if text else end
        return end


def clauses_of(node: gast.AST) -> Iterator[tuple[Any, str, list[gast.stmt]]]:
    """The blocks of a compound statement in source order: (owner, field, statements)."""
    for field in FIELDS:
        value = getattr(node, field, None)
        if not isinstance(value, list) or not value:
            continue
        if field in ("handlers", "cases"):
            yield from ((owner, "body", owner.body) for owner in value)
        else:
            yield node, field, value


def header_nodes(owner: gast.AST) -> Iterator[Any]:
    """The nodes with a location in the header of a compound statement, decorators included."""
    # In `except E as name` the tree has no location for the name.
    unlocated = "name" if isinstance(owner, gast.ExceptHandler) else ""
    for name, value in gast.iter_fields(owner):
        if name not in FIELDS and name != unlocated:
            yield from _located(value)


def _located(value: Any) -> Iterator[gast.AST]:
    if isinstance(value, list):
        for item in value:
            yield from _located(item)
    elif isinstance(value, gast.AST):
        if getattr(value, "end_lineno", None) is not None:
            yield value
        else:
            yield from _located(list(gast.iter_child_nodes(value)))


def width(indent: str) -> int:
    """The column that white space leads to, as Python's tokenizer counts it."""
    return len(indent.expandtabs(_TAB))
