"""What `--do-not-convert` names: modules, packages, and classes and functions in them, by their dotted paths.

package              every file below package/
package.module       package/module.py
package.module.C.f   the method `f` of the class `C` in it; without `.f` all of the class
"""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterator
from pathlib import Path

WHOLE_FILE = ""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def named_in(path: str | os.PathLike[str], names: Collection[str]) -> frozenset[str]:
    """What the names mean in one file: paths of definitions in it, or `WHOLE_FILE`."""
    module = _module_name(Path(path).absolute()) if names else ""
    found = set()
    for name in names:
        if f"{module}.".startswith(f"{name}."):
            found.add(WHOLE_FILE)
        elif name.startswith(f"{module}."):
            found.add(name.removeprefix(f"{module}."))
    return frozenset(found)


def definitions(node: ast.AST, paths: Collection[str], prefix: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """The classes and functions of these paths in a module."""
    for inner in ast.iter_child_nodes(node) if paths else ():
        if isinstance(inner, _DEFINITIONS):
            path = prefix + inner.name
            if path in paths:
                yield path, inner
            yield from definitions(inner, paths, f"{path}.")
        elif not isinstance(inner, ast.expr):
            yield from definitions(inner, paths, prefix)


def _module_name(path: Path) -> str:
    """The dotted name that a file is imported by, as far as its `__init__.py` neighbours show."""
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").exists():
        parts.append(folder.name)
        folder = folder.parent
    return ".".join(reversed(parts))
