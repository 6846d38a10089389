"""How much longer rewritten statements are: lines emitted over lines of the original, over the files of a directory.

    python benchmarks/emitted_lines.py DIRECTORY [--worst N]

A rewritten statement is the smallest run of lines that holds a rewritten place and all changes around it; behind an
early return that is the rest of the function. Lines that it keeps count on both sides. The import, which is one line a
file, is left out.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).parents[1]))

from autograph_torch.cli import files
from autograph_torch.cli.converting import convert_file
from autograph_torch.cli.review import Result
from autograph_torch.diagnostics import Diagnostic
from autograph_torch.rewriting import RUNTIME_IMPORT

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"


@dataclass(frozen=True)
class Rewritten:
    """One rewritten run of lines."""

    place: str
    before: list[str]
    after: list[str]

    @property
    def ratio(self) -> float:
        return len(self.after) / len(self.before)


def rewritten_runs(result: Result) -> Iterator[Rewritten]:
    """The rewritten statements of one file."""
    old = result.raw.decode(errors="replace").splitlines()
    new = [line for line in result.output.decode(errors="replace").splitlines() if line.strip() != RUNTIME_IMPORT]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    kept = {i + k: j + k for i, j, size in matcher.get_matching_blocks() for k in range(size)}
    functions = [node for node in ast.walk(ast.parse(result.raw)) if isinstance(node, FUNCTIONS)]
    spans = [(d.line - 1, _end(d, functions)) for d in result.rewritten]
    spans += [(i1, i2) for tag, i1, i2, _, _ in matcher.get_opcodes() if tag != "equal"]
    for start, end in _merged(spans):
        while start > 0 and start - 1 not in kept:
            start -= 1
        while end < len(old) and end not in kept:
            end += 1
        low = kept[start - 1] + 1 if start else 0
        high = kept[end] if end < len(old) else len(new)
        if end > start and old[start:end] != new[low:high]:
            yield Rewritten(f"{result.shown}:{start + 1}", old[start:end], new[low:high])


def _end(found: Diagnostic, functions: list[Function]) -> int:
    """The last line that a rewriting concerns: what follows an early return has moved."""
    around = [node.end_lineno or 0 for node in functions if node.lineno <= found.line <= (node.end_lineno or 0)]
    return min(around) if found.code == "AG102" and around else found.end_line


def _merged(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans that touch become one."""
    current: tuple[int, int] | None = None
    for start, end in sorted(spans):
        if current is not None and start <= current[1]:
            current = current[0], max(current[1], end)
            continue
        if current is not None:
            yield current
        current = start, end
    if current is not None:
        yield current


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="show the N with the highest ratio")
    options = parser.parse_args()
    results = [convert_file(target) for target in files.find([options.directory]).targets]
    runs = [run for result in results if result.changed for run in rewritten_runs(result)]
    for run in sorted(runs, key=lambda run: run.ratio)[len(runs) - options.worst :]:
        print(f"\n{run.place}: {run.ratio:.2f}", *(f"- {line}" for line in run.before), sep="\n")
        print(*(f"+ {line}" for line in run.after), sep="\n")
    if not runs:
        print("nothing is rewritten")
        return
    ratios = [run.ratio for run in runs]
    deciles = statistics.quantiles(ratios, n=10) if len(ratios) > 1 else ratios
    before, after = sum(len(run.before) for run in runs), sum(len(run.after) for run in runs)
    print(
        f"{len(runs)} rewritten statements: median {statistics.median(ratios):.2f}, 90th percentile {deciles[-1]:.2f}"
    )
    print(f"all lines: {after} / {before} = {after / before:.2f}")


if __name__ == "__main__":
    main()
