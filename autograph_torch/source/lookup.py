"""From a live function to its syntax tree, in the file it was written in.

Line numbers and columns are those of the file: nothing is dedented. For a `def` its own lines are parsed: from the
first that the code names up to one that is indented no further, as soon as the text between them is a whole statement.
For lambdas the whole file is parsed (once, while its lines stay the same), and those that share a line are told apart
by the positions of their instructions, or by the instructions where Python has recorded no positions. Works for files
that cannot be imported, notebook cells and `exec` with a `linecache` entry.
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import sys
import types
from dataclasses import dataclass

import gast

from autograph_torch.diagnostics import Diagnostic, SourceError
from autograph_torch.source.directives import Directives

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Located:
    """A function's tree, and the lines and tree of the file around it."""

    node: Function
    filename: str
    lines: tuple[str, ...]
    owner: str | None  # the class that a method is defined in


def locate(code: types.CodeType) -> Located:
    """Find the source of a code object.

    Raises:
        SourceError: AG302 when there is no source, or none that matches the code.
    """
    lines = tuple(linecache.getlines(code.co_filename))
    if not lines:
        raise _no_source(code, "no source text is available for it")
    alone = _own_lines(code, lines)
    if alone is not None:
        return Located(alone, code.co_filename, lines, _owner(code))
    text = "".join(lines)
    try:
        functions = _parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise _no_source(code, f"its file cannot be parsed ({error})") from error
    found = [(node, owner) for node, owner in functions if _matches(node, code)]
    if len(found) > 1:
        found = [(n, o) for n, o in found if not isinstance(n, ast.Lambda) or _same_code(n, code, text)]
    if not found:
        raise _no_source(code, "its file has changed since it was loaded, or it was made by a program")
    node, owner = found[0]
    return Located(node, code.co_filename, lines, owner)


def _own_lines(code: types.CodeType, lines: tuple[str, ...]) -> Function | None:
    """The tree of a `def` from its own lines; None where these do not tell."""
    first = code.co_firstlineno - 1
    if not 0 <= first < len(lines) or not hasattr(code, "co_qualname"):
        return None
    base = _indentation(lines[first])
    if not lines[first].lstrip().startswith(("def ", "async ", "@")):
        return None
    further = (k for k in range(first + 1, len(lines)) if _begins(lines[k]) and _indentation(lines[k]) <= base)
    for end in (*itertools.islice(further, _ENDS), len(lines)):
        node = _statement("".join(lines[first:end]), first)
        if node is not None:
            return node if _matches(node, code) else None
    return None


_ENDS = 40  # lines that may be the end of a function, among them those of texts and brackets


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _begins(line: str) -> bool:
    """Whether a line may begin a statement."""
    text = line.strip()
    return bool(text) and not text.startswith("#")


@functools.lru_cache(maxsize=512)
def _statement(text: str, first: int) -> Function | None:
    """The function that a text consists of, with the line numbers of the file."""
    indented = text[:1].isspace()
    try:
        body = ast.parse("if 1:\n" + text if indented else text).body
    except (SyntaxError, ValueError, RecursionError):
        return None
    inner = body[0].body if indented and isinstance(body[0], ast.If) else body
    if len(body) != 1 or len(inner) != 1 or not isinstance(inner[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    ast.increment_lineno(inner[0], first - 1 if indented else first)
    return inner[0]


def _owner(code: types.CodeType) -> str | None:
    """The class that a function is defined in."""
    *around, _ = code.co_qualname.split(".")
    return around[-1] if around and around[-1] != "<locals>" else None


@functools.lru_cache(maxsize=32)
def skipped_lines(filename: str, lines: tuple[str, ...]) -> frozenset[int]:
    """The lines of a file that comments ask to leave alone; `skip-file` is about the file's text and does not count."""
    text = "".join(lines)
    return Directives.read(text, filename, ast.parse(text)).skipped_lines if "autograph:" in text else frozenset()


def as_function(node: ast.AST) -> gast.FunctionDef:
    """The gast tree of a function; a lambda becomes a function that returns its body, positions kept."""
    if isinstance(node, ast.Lambda):
        body = ast.copy_location(ast.Return(value=node.body), node.body)
        function = ast.FunctionDef(name="<lambda>", args=node.args, body=[body], decorator_list=[], returns=None)
        if sys.version_info >= (3, 12):
            function.type_params = []
        node = ast.copy_location(function, node)
    return gast.ast_to_gast(node)


@functools.lru_cache(maxsize=32)
def _parse(text: str) -> list[tuple[Function, str | None]]:
    return _functions(ast.parse(text))


def _functions(tree: ast.Module) -> list[tuple[Function, str | None]]:
    """Every function and lambda of the file with the class it is defined in."""
    found: list[tuple[Function, str | None]] = []
    stack: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while stack:
        node, owner = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            found.append((node, owner))
            owner = None
        elif isinstance(node, ast.ClassDef):
            owner = node.name
        stack.extend((child, owner) for child in ast.iter_child_nodes(node))
    return found


def _matches(node: ast.AST, code: types.CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name != code.co_name:
        return False
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return first == code.co_firstlineno


def _same_code(node: ast.Lambda, code: types.CodeType, text: str) -> bool:
    """Whether a lambda is the one that this code was compiled from, or has the same code, among others on its line."""
    extent = _extent(code)
    if extent is not None:
        body = node.body
        return extent == (body.lineno, body.col_offset, body.end_lineno, body.end_col_offset)
    compiled = _compiled(text, node.lineno, node.col_offset)
    return compiled is not None and _without_place(compiled) == _without_place(code)


def _extent(code: types.CodeType) -> tuple[int, int, int, int] | None:
    """From where to where the instructions of a lambda stand: exactly its body; None where that was not recorded.

    It is from Python 3.11 on, unless `-X no_debug_ranges` is given.
    """
    if not hasattr(code, "co_positions"):
        return None
    begin, end = [], []
    for line, end_line, column, end_column in code.co_positions():
        if line is not None and end_line is not None and column is not None and end_column:
            begin.append((line, column))
            end.append((end_line, end_column))
    return (*min(begin), *max(end)) if begin else None


@functools.lru_cache(maxsize=32)
def _compiled(text: str, line: int, column: int) -> types.CodeType | None:
    """The code of the lambda at a place of a file, told by a line behind the last; None where Python leaves it out."""
    tree = ast.parse(text)
    behind = text.count("\n") + 2
    lambdas = (part for part in ast.walk(tree) if isinstance(part, ast.Lambda))
    wanted = next(part for part in lambdas if (part.lineno, part.col_offset) == (line, column))
    ast.increment_lineno(wanted, behind - line)
    stack = [compile(tree, "<lambda>", "exec", dont_inherit=True)]
    while stack and stack[-1].co_firstlineno != behind:
        stack.extend(part for part in stack.pop().co_consts if isinstance(part, types.CodeType))
    return stack[-1] if stack else None


def _without_place(code: types.CodeType) -> types.CodeType:
    """What the code does, without the place that it was compiled from."""
    inner = tuple(_without_place(part) if isinstance(part, types.CodeType) else part for part in code.co_consts)
    return code.replace(co_filename="", co_firstlineno=1, co_linetable=b"", co_flags=0, co_consts=inner)


def _no_source(code: types.CodeType, why: str) -> SourceError:
    return SourceError(
        Diagnostic(
            code="AG302",
            filename=code.co_filename,
            line=code.co_firstlineno,
            column=1,
            end_line=code.co_firstlineno,
            message=f"`{code.co_name}` cannot be rewritten: {why}",
            advice="define it in a file or a notebook cell, or call it from a function that is",
        )
    )
