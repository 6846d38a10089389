"""What is called idle must be: no pass changes it, and none has anything to say about it."""

from __future__ import annotations

import ast
from pathlib import Path

import gast
import pytest

from autograph_torch.analysis.kinds import imports_of
from autograph_torch.passes import may_have_work
from autograph_torch.rewriting import Surroundings, rewrite_function
from autograph_torch.source.skeleton import unparse
from tests.passes.test_golden import FILES

ROOT = Path(__file__).parents[2]
PROGRAMS = [path for folder in ("examples", "benchmarks", "tests/programs") for path in ROOT.glob(f"{folder}/*.py")]


def rewritten(text: str, assume_unknown: bool) -> list[tuple[str | None, object]]:
    """What becomes of each function of a file: its new text, or None, and the messages."""
    tree = ast.parse(text)
    around = Surroundings("t.py", tuple(text.splitlines()), imports_of([tree]), assume_unknown=assume_unknown)
    found: list[tuple[str | None, object]] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            one = rewrite_function(gast.ast_to_gast(node), around)
            assert may_have_work(node, around.imports) or not (one.changed or one.diagnostics)
            found.append((unparse(one.tree) if one.changed else None, one.diagnostics))
    return found


@pytest.mark.parametrize("assume_unknown", [False, True])
@pytest.mark.parametrize("path", [*FILES, *PROGRAMS], ids=lambda path: path.stem)
def test_a_function_that_is_passed_over_would_have_stayed(
    path: Path, assume_unknown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = path.read_text().partition("\n# output\n")[0]
    usual = rewritten(text, assume_unknown)
    monkeypatch.setattr("autograph_torch.rewriting.has_work", lambda function, facts: True)
    assert usual == rewritten(text, assume_unknown)
