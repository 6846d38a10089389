"""Rewritten statements stay about as long as they were: at most twice as many lines in the median."""

from __future__ import annotations

import statistics
from pathlib import Path

from autograph_torch.cli.converting import convert_file
from autograph_torch.cli.files import Target
from benchmarks.emitted_lines import rewritten_runs

ROOT = Path(__file__).parents[1]


def test_lines_emitted_for_each_line() -> None:
    files = [path for folder in ("examples", "tests/programs") for path in sorted((ROOT / folder).glob("*.py"))]
    runs = [run for path in files for run in rewritten_runs(convert_file(Target(path, path.name)))]
    assert len(runs) > 300
    assert statistics.median(run.ratio for run in runs) <= 2.0
