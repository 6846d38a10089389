"""Importing files in another form than the one on disk: rewritten, or with their branches and loops observed."""

from __future__ import annotations

import ast
import contextlib
import importlib.abc
import importlib.machinery
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import gast

from autograph_torch.rewriting import Rewritten
from autograph_torch.source.file import SourceFile

# The code of the file at a path, and global names that it expects.
MakeCode = Callable[[str], "tuple[types.CodeType, dict[str, Any]]"]


def module_code(source: SourceFile, functions: Iterable[Rewritten], imports: Sequence[str]) -> types.CodeType:
    """The code of a module whose functions are replaced; lines are those of the file on disk."""
    new = {(f.original.lineno, f.original.col_offset): f.tree for f in functions if f.changed}
    module = ast.parse(source.text)

    def replaced(node: ast.AST) -> None:
        for key, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, key, [_new_form(item, new) for item in value])
        for child in ast.iter_child_nodes(node):
            replaced(child)

    replaced(module)
    at = next((k for k, node in enumerate(module.body) if not _is_preamble(node)), len(module.body))
    module.body[at:at] = [statement for text in imports for statement in ast.parse(text).body]
    return compile(ast.fix_missing_locations(module), source.filename, "exec", dont_inherit=True)


def _new_form(node: object, new: dict[tuple[int, int], gast.FunctionDef]) -> object:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        tree = new.pop((node.lineno, node.col_offset), None)
        return node if tree is None else gast.gast_to_ast(tree)
    return node


def _is_preamble(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules as Python does, and has those of certain files made by `make_code`."""

    def __init__(self, files: Iterable[str], make_code: MakeCode) -> None:
        self._files = {os.path.realpath(file) for file in files}
        self._make_code = make_code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or os.path.realpath(spec.origin) not in self._files:
            return None
        spec.loader = _Loader(fullname, spec.origin, self._make_code)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Runs what `make_code` gives; cached bytecode is that of the file on disk."""

    def __init__(self, fullname: str, path: str, make_code: MakeCode) -> None:
        super().__init__(fullname, path)
        self._make_code = make_code

    def exec_module(self, module: types.ModuleType) -> None:
        code, given = self._make_code(self.path)
        module.__dict__.update(given)
        exec(code, module.__dict__)


@contextlib.contextmanager
def imported_as(files: Iterable[str], make_code: MakeCode) -> Iterator[None]:
    """While it lasts, importing one of `files` runs the code that `make_code` gives for its path."""
    finder = _Finder(files, make_code)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
