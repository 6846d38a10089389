"""The compiler's source side needs no torch: its tests run on every supported Python that the machine has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE_SIDE = ("tests/source", "tests/analysis", "tests/passes", "tests/cli", "tests/test_pipeline.py")
VERSIONS = [version for version in ("3.10", "3.11", "3.12", "3.13") if shutil.which(f"python{version}")]


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_source_side_without_torch(version: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run([f"python{version}", "-m", "venv", folder], capture_output=True).returncode:
            pytest.skip(f"python{version} is a stub here")
        python = os.path.join(folder, "bin", "python")
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "gast", "pytest", "astunparse", "rich", "tomli"], check=True
        )
        command = [python, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *SOURCE_SIDE]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        print(done.stdout[-2000:], file=sys.stderr)
        assert done.returncode == 0
