"""`--target`, `--example` and `--verify`: what the conversion is to aim at, and the two flags that run the user's code.

The code runs in processes of its own (autograph_torch/trial); without these two flags nothing imports or runs it.
"""

from __future__ import annotations

import argparse
import ast
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograph_torch.diagnostics import ConversionError, Diagnostic

if TYPE_CHECKING:  # a plain run needs neither
    from autograph_torch.pipeline import Options
    from autograph_torch.trial.parent import Learned


@dataclass(frozen=True)
class Wanted:
    """The target, and what an example has shown of the files."""

    target: str = "autograph"
    learned: Learned | None = None

    def options(self, path: str) -> Options:
        """How to convert one file."""
        from autograph_torch.pipeline import Options

        if self.target == "autograph":
            return Options()
        if self.learned is None:
            return Options(target=self.target)
        return Options(target=self.target, seen=self.learned.seen(path), failed=self.learned.lines(path))


DEFAULT = Wanted()


def wanted(options: argparse.Namespace, paths: Sequence[Path]) -> Wanted:
    """What the command line asks for; runs the example, if there is one.

    Raises:
        ConversionError: AG330, the example cannot be used.
    """
    if options.example and options.target != "torch":
        options.refuse("--example tells types, which only --target torch needs")
    example = options.example or (options.verify if options.target == "torch" else None)
    if not example:
        return Wanted(options.target)
    from autograph_torch.trial.parent import learn

    return Wanted(options.target, learn(_named(example, options), [os.fspath(path) for path in paths]))


def verified(example: str | None, paths: Sequence[Path], wanted: Wanted) -> str:
    """Run the original and both rewritten forms; says that they agree, or nothing when not asked.

    Raises:
        ConversionError: AG330, the example cannot be used; AG331, the rewritten code does something else.
    """
    if not example:
        return ""
    from autograph_torch.trial.parent import learn, verify

    files = [os.fspath(path) for path in paths]
    found = verify(example, files, _functions(paths, example), wanted.learned or learn(example, files))
    for target, text in found.differences.items():
        if text:
            message = f"--target {target} does something else than the original: {text}"
            raise ConversionError(
                Diagnostic("AG331", example, 1, 1, 1, message, "please report it, and leave the function out")
            )
    calls = f"{found.calls} call{'s' * (found.calls != 1)}"
    return f"verified by {example}: the original and both targets agree, {calls} compared"


def _named(example: str, options: argparse.Namespace) -> str:
    module, colon, function = example.partition(":")
    if not (module and colon and function):
        options.refuse(f"{example}: expected MODULE:FUNCTION, such as examples.run:main")
    return example


def _functions(paths: Sequence[Path], example: str) -> list[str]:
    """Names of the functions of the files, but for the example itself."""
    found: set[str] = set()
    for path in paths:
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, OSError):  # said where the file is converted
            continue
        found |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    return sorted(found - {example.rpartition(":")[2].rpartition(".")[2]})
