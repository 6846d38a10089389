"""to_source: the text that conversion gives for a live function."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

from autograph_torch.capture.originals import entry_function, original_of
from autograph_torch.diagnostics import ConversionError, Diagnostic
from autograph_torch.live import names_in_reach, rewrite_located
from autograph_torch.source.edits import apply
from autograph_torch.source.emit import function_edits
from autograph_torch.source.file import SourceFile
from autograph_torch.source.lookup import Function, locate


def to_source(fn: Any, /, target: str = "autograph") -> str:
    """The converted text of a function, of a module's or class's `forward`, or of a callable object.

    Args:
        fn: as for `autograph`; what `autograph` gave back counts as what it was made of.
        target: "autograph", the text with calls of the runtime (`import autograph_torch.runtime as ag`).

    Raises:
        SourceError: AG302, the source cannot be found.
        ConversionError: AG304, an unknown target.
    """
    if target != "autograph":
        raise ConversionError(
            Diagnostic("AG304", "<to_source>", 1, 1, 1, f"there is no target {target!r}", 'use target="autograph"')
        )
    function = entry_function(original_of(fn))
    if function is None:
        raise ConversionError(Diagnostic("AG302", f"<{type(fn).__name__}>", 1, 1, 1, f"`{fn!r}` has no Python source"))
    located = locate(function.__code__)
    names = names_in_reach(function)
    # As a file would be converted; where that finds no evidence of tensors, as the decorator does.
    rewritten = rewrite_located(located, names, {}, assume_unknown=False)
    if not rewritten.changed:
        rewritten = rewrite_located(located, names, {}, assume_unknown=True)
    source = SourceFile.read("".join(located.lines).encode(), located.filename)
    edits = function_edits(source, rewritten.original, rewritten.tree) if rewritten.changed else []
    return _function_text(apply(source, edits).decode(), function.__name__, located.node)


def _function_text(text: str, name: str, node: Function) -> str:
    """The lines of the function that stands where it stood: everything before it is unchanged."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    for found in ast.walk(ast.parse(text)):
        if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) and found.name == name:
            begin = min([found.lineno, *(d.lineno for d in found.decorator_list)])
            if begin == first and found.end_lineno is not None:
                return textwrap.dedent("".join(text.splitlines(keepends=True)[begin - 1 : found.end_lineno]))
    lines = text.splitlines(keepends=True)
    return textwrap.dedent("".join(lines[first - 1 : getattr(node, "end_lineno", first)]))
