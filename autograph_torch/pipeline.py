"""A whole file through the compiler: the bytes of what was rewritten change, all others stay as they are."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import gast

from autograph_torch.analysis.kinds import imports_of
from autograph_torch.diagnostics import Diagnostic
from autograph_torch.rewriting import RUNTIME_IMPORT, Rewritten, Surroundings, rewrite_function
from autograph_torch.source.directives import Directives
from autograph_torch.source.edits import Edit, apply
from autograph_torch.source.emit import add_import, function_edits
from autograph_torch.source.file import SourceFile


@dataclass(frozen=True)
class Options:
    """What a caller may choose for a file."""

    assume_unknown: bool = False


@dataclass(frozen=True)
class Converted:
    """A file after conversion."""

    output: bytes
    changed: bool
    diagnostics: tuple[Diagnostic, ...]
    functions: tuple[Rewritten, ...] = ()


def convert_source(raw: bytes, filename: str, options: Options = Options()) -> Converted:
    """Convert a whole file. Bytes outside rewritten functions are identical; converting twice changes nothing.

    Raises:
        SourceError: the file cannot be decoded or parsed; names file and line.
    """
    source = SourceFile.read(raw, filename)
    directives = Directives.read(source.text, filename)
    if directives.skip_file:
        return Converted(raw, False, ())
    module = source.tree
    around = Surroundings(
        filename=filename,
        lines=tuple(source.text.splitlines()),
        imports=imports_of([module]),
        assume_unknown=options.assume_unknown,
        skipped_lines=directives.skipped_lines,
    )
    rewritten = [
        rewrite_function(gast.ast_to_gast(node), around, is_method=is_method)
        for node, is_method in _outermost_functions(module)
        if node.lineno not in directives.skipped_lines
    ]
    edits: list[Edit] = []
    diagnostics: list[Diagnostic] = []
    for one in rewritten:
        try:
            edits.extend(function_edits(source, one.original, one.tree) if one.changed else [])
            diagnostics.extend(one.diagnostics)
        except (ValueError, RecursionError) as error:
            diagnostics.append(_unprintable(one, around, error))
    if edits and (added := add_import(source, RUNTIME_IMPORT)) is not None:
        edits.append(added)
    output = apply(source, edits) if edits else raw
    return Converted(output, output != raw, tuple(diagnostics), tuple(rewritten))


def _unprintable(one: Rewritten, around: Surroundings, error: Exception) -> Diagnostic:
    """A function whose new text cannot be written keeps its old one."""
    line = one.original.lineno
    nested = isinstance(error, RecursionError)
    reason = "it is too deeply nested" if nested else str(error)
    return Diagnostic(
        code="AG290",
        filename=around.filename,
        line=line,
        column=one.original.col_offset + 1,
        end_line=line,
        message=f"`{one.original.name}` is left alone: {reason}",
        advice="split the function" if nested else "",
        snippet=around.lines[line - 1],
    )


def _outermost_functions(module: ast.Module) -> list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, bool]]:
    """Functions that are not inside another function, in source order, and whether they are methods."""
    found: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, bool]] = []
    stack: list[tuple[ast.AST, bool]] = [(module, False)]
    while stack:
        node, in_class = stack.pop()
        for child in reversed(list(ast.iter_child_nodes(node))):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append((child, in_class))
            elif isinstance(child, ast.stmt):
                stack.append((child, isinstance(child, ast.ClassDef)))
    return sorted(found, key=lambda pair: pair[0].lineno)
