"""From a rewritten tree back to text: the edits that turn a function of a file into its rewritten form.

The whole function is printed from the rewritten tree, old statements as their own lines and new ones as new text; the
lines that come out as they were are left out of the edits. Comments that got lost on the way are hung on what took the
place of their statement, and the text is printed once more. Nothing is returned that does not parse to the tree asked
for.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from typing import TypeAlias

import gast

from autograph_torch.diagnostics import ConversionError, Diagnostic
from autograph_torch.source.blocks import Blocks
from autograph_torch.source.comments import Notes, hang
from autograph_torch.source.edits import Edit
from autograph_torch.source.file import SourceFile, parse_quietly
from autograph_torch.source.imports import add_import
from autograph_torch.source.layout import Layout
from autograph_torch.source.skeleton import unparse

Function: TypeAlias = "gast.FunctionDef | gast.AsyncFunctionDef"

__all__ = ["add_import", "function_edits"]

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def function_edits(source: SourceFile, original: Function, rewritten: Function) -> list[Edit]:
    """The edits on `source.utf8` that turn the text of `original` into that of `rewritten`."""
    if rewritten is original:
        return []
    layout = Layout(source, original)
    wanted = unparse(rewritten)
    for copying in (True, False):
        text = _text(source, layout, original, rewritten, copying)
        if _canonical(text) == wanted:
            start = layout.places[id(original)].lead
            return list(_changed_lines(source.utf8[start : layout.end], text.encode("utf-8"), start))
    if any(_is_continued(source, place.start) for place in layout.places.values()):
        raise ValueError("a statement in it starts behind a line continuation")
    raise _cannot_print(source, original)


def _is_continued(source: SourceFile, start: int) -> bool:
    """The line that a statement starts on goes on from the one above it: `if p: \\` and the statement below."""
    above = next(source.tokens.before(start), None)
    return above is not None and above.end < source.starts[source.line_number(start) - 1]


def _text(source: SourceFile, layout: Layout, original: Function, rewritten: Function, copying: bool) -> str:
    """The printed function. `copying` keeps the text of old expressions within new statements."""
    pristine = {id(node) for node in gast.walk(original)}
    place = layout.places[id(original)]
    first = Blocks(source, layout, pristine, Notes(), copying)
    text = first.statement(rewritten, place.indent)
    comments = source.tokens.comments(place.lead, layout.end)
    lost = [comment for comment in comments if comment.start not in first.copier.kept]
    if lost:
        notes = hang(lost, first.printed, layout)
        text = Blocks(source, layout, pristine, notes, copying).statement(rewritten, place.indent)
    at_end = layout.end == len(source.utf8) and not source.utf8.endswith((b"\n", b"\r"))
    return text.removesuffix(source.newline) if at_end else text


def _changed_lines(old: bytes, new: bytes, start: int) -> Iterator[Edit]:
    old_lines, new_lines = _LINE.findall(old), _LINE.findall(new)
    offsets = [start]
    for line in old_lines:
        offsets.append(offsets[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    for tag, low, high, new_low, new_high in matcher.get_opcodes():
        if tag != "equal":
            yield Edit(offsets[low], offsets[high], b"".join(new_lines[new_low:new_high]))


def _canonical(text: str) -> str | None:
    """The printed function as `ast.unparse` shows it: two trees are equal if this is; None if it does not parse."""
    indented = bool(text[: len(text) - len(text.lstrip(" \t\f"))].rpartition("\f")[2])
    try:
        tree: ast.AST = parse_quietly(f"if 1:\n{text}" if indented else text).body[0]
    except (SyntaxError, ValueError):
        return None
    except MemoryError as error:  # how the parser says that parentheses are too deep
        raise RecursionError from error
    return ast.unparse(tree.body[0] if indented and isinstance(tree, ast.If) else tree)


def _cannot_print(source: SourceFile, original: Function) -> ConversionError:
    number = original.lineno
    snippet = source.line(number).decode("utf-8").rstrip("\r\n")
    message = "its new text does not say what it should; this is a defect of autograph-torch, please report it"
    column = original.col_offset + 1
    return ConversionError(Diagnostic("AG390", source.filename, number, column, number, message, snippet=snippet))
