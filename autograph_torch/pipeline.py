"""A whole file through the compiler: the bytes of what was rewritten change, all others stay as they are."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import gast

from autograph_torch.analysis.class_code import FileClasses
from autograph_torch.analysis.kinds import imports_of
from autograph_torch.analysis.nesting import DEEPEST_TEXT
from autograph_torch.analysis.seen import Site
from autograph_torch.diagnostics import ConversionError, Diagnostic
from autograph_torch.passes import may_have_work
from autograph_torch.rewriting import RUNTIME_IMPORT, Rewritten, Surroundings, rewrite_function
from autograph_torch.source.directives import Directives
from autograph_torch.source.edits import Edit, apply, check_module
from autograph_torch.source.emit import add_import, function_edits
from autograph_torch.source.file import SourceFile
from autograph_torch.source.left_out import WHOLE_FILE, definitions
from autograph_torch.torch_target import SETTING, rewrite_for_torch, torch_name

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"


@dataclass(frozen=True)
class Options:
    """What a caller may choose for a file.

    target: "autograph", calls of the runtime, or "torch", torch.cond and torch.while_loop themselves.
    seen: for the target torch, what an example run has shown of the file.
    failed: for the target torch, lines whose rewritten form has failed in a trial, with the reason.
    left_out: paths of functions and classes that stay as they are, or `WHOLE_FILE` (source/left_out.py).
    """

    assume_unknown: bool = False
    target: str = "autograph"
    seen: Mapping[str, Site] | None = None
    failed: Mapping[int, str] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()


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
    module = source.tree
    directives = Directives.read(source.text, filename, module)
    if directives.skip_file:
        return Converted(raw, False, directives.notes)
    if WHOLE_FILE in options.left_out:
        return Converted(raw, False, (_left_out(filename, 1, 1, source.text.partition("\n")[0]),))
    left_out = [node for _, node in definitions(module, options.left_out)]
    stay = frozenset(line for node in left_out for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))
    around = Surroundings(
        filename=filename,
        lines=source.lines,
        imports=imports_of([module]),
        assume_unknown=options.assume_unknown or options.seen is not None,
        skipped_lines=directives.skipped_lines | stay | frozenset(options.failed),
        deepest=DEEPEST_TEXT,
    )
    to_torch = options.target == "torch"
    if to_torch and add_import(source, RUNTIME_IMPORT) is None:
        return Converted(raw, False, ())  # it has been converted for the runtime
    rewritten: list[Rewritten] = []
    edits: list[Edit] = []
    diagnostics = [*directives.notes, *(_failed(line, reason, around) for line, reason in options.failed.items())]
    diagnostics += [
        _left_out(filename, node.lineno, node.end_lineno or node.lineno, around.lines[node.lineno - 1])
        for node in left_out
    ]
    classes = FileClasses(module)
    for node, own in outermost_functions(module):
        if node.lineno in directives.skipped_lines | stay or not may_have_work(node, around.imports):
            continue
        try:
            if to_torch:
                one = rewrite_for_torch(gast.ast_to_gast(node), around, options.seen, is_method=own is not None)
            else:
                known = replace(around, class_code=classes.code_for(own))
                one = rewrite_function(gast.ast_to_gast(node), known, is_method=own is not None)
            edits.extend(function_edits(source, one.original, one.tree) if one.changed else [])
            diagnostics.extend(one.diagnostics)
            rewritten.append(one)
        except (ValueError, RecursionError, ConversionError) as error:
            if isinstance(error, ConversionError):
                check_module(source)  # perhaps it is not us who are wrong
            diagnostics.append(_left_alone(node, around, error))
    wanted = RUNTIME_IMPORT if not to_torch else "" if torch_name(around.imports) else "import torch"
    if edits and wanted and (added := add_import(source, wanted)) is not None:
        edits.append(added)
    if edits and any(diagnostic.code == "AG112" for diagnostic in diagnostics):
        if (added := add_import(source, SETTING.format(newline=source.newline))) is not None:
            edits.append(added)
    output = apply(source, edits) if edits else raw
    return Converted(output, output != raw, tuple(sorted(diagnostics, key=_place)), tuple(rewritten))


def _place(diagnostic: Diagnostic) -> tuple[int, int, str]:
    return diagnostic.line, diagnostic.column, diagnostic.code


def _failed(line: int, reason: str, around: Surroundings) -> Diagnostic:
    """A branch or loop whose rewritten form torch does not take."""
    text = around.lines[line - 1]
    column = len(text) - len(text.lstrip()) + 1
    return Diagnostic("AG251", around.filename, line, column, line, f"left alone: {reason}", "", text)


def _left_out(filename: str, line: int, end: int, text: str) -> Diagnostic:
    column = len(text) - len(text.lstrip()) + 1
    return Diagnostic("AG208", filename, line, column, end, "left alone: `do-not-convert` names it", "", text)


def _left_alone(function: Function, around: Surroundings, error: Exception) -> Diagnostic:
    """A function that is too deep, or whose new text cannot be written, keeps its old one."""
    line = function.lineno
    nested = isinstance(error, RecursionError)
    if isinstance(error, ConversionError):
        reason = error.diagnostic.message
    else:
        reason = "it is too deeply nested" if nested else str(error)
    return Diagnostic(
        code="AG290",
        filename=around.filename,
        line=line,
        column=function.col_offset + 1,
        end_line=line,
        message=f"`{function.name}` is left alone: {reason}",
        advice="split the function" if nested else "",
        snippet=around.lines[line - 1],
    )


def outermost_functions(module: ast.Module) -> list[tuple[Function, ast.ClassDef | None]]:
    """Functions that are not inside another function, in source order, and the classes of methods."""
    found: list[tuple[Function, ast.ClassDef | None]] = []
    stack: list[tuple[ast.AST, ast.ClassDef | None]] = [(module, None)]
    while stack:
        node, own = stack.pop()
        for child in reversed(list(ast.iter_child_nodes(node))):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append((child, own))
            elif isinstance(child, ast.stmt):
                stack.append((child, child if isinstance(child, ast.ClassDef) else own))
    return sorted(found, key=lambda pair: pair[0].lineno)
