"""The command under test: called in an empty directory, with the stand-in for the compiler."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograph_torch.cli.main import main
from tests.cli import stand_in
from tests.cli.stand_in import Ran, Run


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-in where the command line imports the compiler from."""
    monkeypatch.setitem(sys.modules, "autograph_torch.pipeline", stand_in)


@pytest.fixture
def run(compiler: None, run_real: Run) -> Run:
    """Call the command with the stand-in in an empty directory; gives its exit code and what it printed."""
    return run_real


@pytest.fixture
def run_real(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The same with the real compiler."""

    def call(*arguments: str) -> Ran:
        capsysbinary.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        stdout, stderr = capsysbinary.readouterr()
        return Ran(code, stdout, stderr.decode())

    return call


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def file(here: Path) -> Path:
    """One file with two places to rewrite, far enough apart for hunks of their own, and one that is left alone."""
    path = here / "m.py"
    path.write_bytes(stand_in.FILE)
    return path


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Sets what the next command reads from stdin."""
    return lambda text: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
