"""to_source: the text that conversion gives for a live function."""

from __future__ import annotations

import ast
import textwrap
import types
import warnings
from collections.abc import Callable
from typing import Any

from autograph_torch.capture.originals import entry_function, original_of
from autograph_torch.diagnostics import ConversionError, Diagnostic
from autograph_torch.live import names_in_reach, rewrite_located, surroundings_of
from autograph_torch.rewriting import Rewritten
from autograph_torch.source.edits import apply
from autograph_torch.source.emit import function_edits
from autograph_torch.source.file import SourceFile, lines_of
from autograph_torch.source.lookup import Function, Located, as_function, locate
from autograph_torch.torch_target import rewrite_for_torch
from autograph_torch.trial.observer import seen_in


def to_source(fn: Any, /, target: str = "autograph", example: Callable[[], object] | None = None) -> str:
    """The converted text of a function, of a module's or class's `forward`, or of a callable object.

    Args:
        fn: as for `autograph`; what `autograph` gave back counts as what it was made of.
        target: "autograph", the text with calls of the runtime (`import autograph_torch.runtime as ag`), or "torch",
            with torch.cond and torch.while_loop themselves where the types are known.
        example: for the target "torch", a function without arguments that calls `fn`: it is run for the types it shows.

    Raises:
        SourceError: AG302, the source cannot be found.
        ConversionError: AG304, an unknown target; AG330, the example cannot be used.
    """
    if target not in ("autograph", "torch"):
        advice = 'use target="autograph" or target="torch"'
        raise ConversionError(Diagnostic("AG304", "<to_source>", 1, 1, 1, f"there is no target {target!r}", advice))
    function = entry_function(original_of(fn))
    if function is None:
        raise ConversionError(Diagnostic("AG302", f"<{type(fn).__name__}>", 1, 1, 1, f"`{fn!r}` has no Python source"))
    located = locate(function.__code__)
    rewritten = _for_torch(function, located, example) if target == "torch" else _for_runtime(function, located)
    source = SourceFile.read("".join(located.lines).encode(), located.filename)
    edits = function_edits(source, rewritten.original, rewritten.tree) if rewritten.changed else []
    return _function_text(apply(source, edits).decode(), function.__name__, located.node)


def _for_runtime(function: types.FunctionType, located: Located) -> Rewritten:
    """As a file would be converted; where that finds no evidence of tensors, as the decorator does."""
    names = names_in_reach(function)
    rewritten = rewrite_located(located, names, {}, assume_unknown=False)
    return rewritten if rewritten.changed else rewrite_located(located, names, {}, assume_unknown=True)


def _for_torch(function: types.FunctionType, located: Located, example: Callable[[], object] | None) -> Rewritten:
    around = surroundings_of(located, names_in_reach(function), assume_unknown=example is not None)
    seen = seen_in(function, located, around, example) if example is not None else None
    rewritten = rewrite_for_torch(as_function(located.node), around, seen, is_method=located.owner is not None)
    for diagnostic in rewritten.diagnostics:
        if diagnostic.code in ("AG251", "AG252"):
            warnings.warn(diagnostic.render(), stacklevel=3)
    return rewritten


def _function_text(text: str, name: str, node: Function) -> str:
    """The lines of the function that stands where it stood: everything before it is unchanged."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    for found in ast.walk(ast.parse(text)):
        if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) and found.name == name:
            begin = min([found.lineno, *(d.lineno for d in found.decorator_list)])
            if begin == first and found.end_lineno is not None:
                return textwrap.dedent("".join(lines_of(text)[begin - 1 : found.end_lineno]))
    lines = lines_of(text)
    return textwrap.dedent("".join(lines[first - 1 : getattr(node, "end_lineno", first)]))
