"""Adding an import to a file, where a person would have put it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from autograph_torch.source.edits import Edit
from autograph_torch.source.file import SourceFile

_IMPORTS = (ast.Import, ast.ImportFrom)
_HEADING = re.compile(rb"#!|[ \t\f]*#.*coding[:=]")


def add_import(source: SourceFile, text: str) -> Edit | None:
    """The edit that adds the import statement `text`; None if the file has it at its top level already."""
    wanted = set(_bindings(ast.parse(text).body))
    if wanted <= set(_bindings(source.tree.body)):
        return None
    newline = source.newline
    anchor = _anchor(source.tree.body)
    if anchor is None:
        return _at_the_top(source, text)
    offset = _line_end(source, anchor)
    before = "" if source.utf8[:offset].endswith((b"\n", b"\r")) else newline
    blank = newline if _starts_new_section(anchor) else ""
    return Edit(offset, offset, f"{before}{blank}{text}{newline}{_gap(source, offset)}".encode())


def _bindings(body: list[ast.stmt]) -> Iterator[tuple[str | None, int, str, str | None]]:
    """What the import statements of a block import, and as what."""
    for node in body:
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module, node.level, alias.name, alias.asname) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((None, 0, alias.name, alias.asname) for alias in node.names)


def _anchor(body: list[ast.stmt]) -> ast.stmt | None:
    """The statement that the import goes below: the last absolute import of those that open the file."""
    found = body[0] if body and _is_docstring(body[0]) else None
    for node in body[1:] if found else body:
        if isinstance(node, _IMPORTS):
            found = found if isinstance(node, ast.ImportFrom) and node.level else node
        elif not isinstance(node, (ast.If, ast.Try)):
            break
    return found


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _starts_new_section(anchor: ast.stmt) -> bool:
    """Third-party imports stand apart from the docstring and from the standard library."""
    if isinstance(anchor, ast.ImportFrom):
        modules = [anchor.module or ""]
    elif isinstance(anchor, ast.Import):
        modules = [alias.name for alias in anchor.names]
    else:
        return True
    return all(module.partition(".")[0] in sys.stdlib_module_names for module in modules)


def _line_end(source: SourceFile, node: ast.stmt) -> int:
    """The end of the logical line that a statement is on."""
    ends = (token.end for token in source.tokens.after(source.span(node)[1]) if token.kind == "NEWLINE")
    return next(ends, len(source.utf8))


def _gap(source: SourceFile, offset: int) -> str:
    """The blank lines between the import and the line at `offset`, where there are none yet."""
    line = source.line(source.line_number(offset)) if offset < len(source.utf8) else b""
    if not line.strip() or line.startswith((b"import ", b"from ")):
        return ""
    return source.newline * (2 if line.startswith((b"def ", b"class ", b"async ", b"@")) else 1)


def _at_the_top(source: SourceFile, text: str) -> Edit:
    """Below the comment that opens the file, if it stands apart from what follows, or below its magic lines."""
    lines = [source.line(number) for number in range(1, len(source.starts) + 1)]
    comments = next((index for index, line in enumerate(lines) if not line.strip().startswith(b"#")), len(lines))
    apart = comments == len(lines) or not lines[comments].strip()
    magic = next((index for index, line in enumerate(lines[:2]) if not _HEADING.match(line)), min(2, len(lines)))
    number = comments if apart else magic
    offset = source.starts[number] if number < len(source.starts) else len(source.utf8)
    above = source.newline if number else ""
    if offset == len(source.utf8) and source.utf8 and not source.utf8.endswith((b"\n", b"\r")):
        above = source.newline * 2
    return Edit(offset, offset, f"{above}{text}{source.newline}{_gap(source, offset)}".encode())
