"""`--target`, `--do-not-convert`, `--example`, `--verify`: what is wanted, and the two flags that run the user's code.

The code runs in processes of its own (autograph_torch/trial); without the last two nothing imports or runs it.
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
    """The target, the names of what stays as it is, and what an example has shown of the files."""

    target: str = "autograph"
    do_not_convert: tuple[str, ...] = ()
    learned: Learned | None = None

    def options(self, path: str) -> Options:
        """How to convert one file."""
        from autograph_torch.pipeline import Options
        from autograph_torch.source.left_out import named_in

        left_out = named_in(path, self.do_not_convert)
        if self.learned is None:
            return Options(target=self.target, left_out=left_out)
        seen, failed = self.learned.seen(path), self.learned.lines(path)
        return Options(target=self.target, seen=seen, failed=failed, left_out=left_out)


DEFAULT = Wanted()


def wanted(options: argparse.Namespace, paths: Sequence[Path]) -> Wanted:
    """What the command line asks for; runs the example, if there is one.

    Raises:
        ConversionError: AG330, the example cannot be used.
    """
    if options.example and options.target != "torch":
        options.refuse("--example tells types, which only --target torch needs")
    example = options.example or (options.verify if options.target == "torch" else None)
    left_out = tuple(options.do_not_convert)
    if not example:
        return Wanted(options.target, left_out)
    from autograph_torch.trial.parent import learn

    learned = learn(_named(example, options), [os.fspath(path) for path in paths], left_out)
    return Wanted(options.target, left_out, learned)


def verified(example: str | None, paths: Sequence[Path], wanted: Wanted) -> str:
    """Run the original and both rewritten forms; says that they agree, or nothing when not asked.

    Raises:
        ConversionError: AG330, the example cannot be used; AG331, the rewritten code does something else.
    """
    if not example:
        return ""
    from autograph_torch.trial.parent import learn, verify

    files = [os.fspath(path) for path in paths]
    learned = wanted.learned or learn(example, files, wanted.do_not_convert)
    found = verify(example, files, _functions(paths, example), learned, wanted.do_not_convert)
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
