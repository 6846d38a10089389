"""Every example runs; each one compares itself with eager."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(example: Path, backend: str) -> str:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "AUTOGRAPH_EXAMPLE_BACKEND": backend}
    done = subprocess.run([sys.executable, str(example)], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_example(example: Path) -> None:
    if example.stem == "validated_training" and sys.version_info[:3] == (3, 13, 0):
        pytest.skip("counts warnings, and torch has one of its own for Python 3.13.0")
    assert run(example, "eager").strip()


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_example_on_inductor(example: Path) -> None:
    assert run(example, "inductor").strip()


def test_examples_are_listed() -> None:
    listing = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [example.name for example in EXAMPLES if f"[{example.name}]({example.name})" not in listing] == []
