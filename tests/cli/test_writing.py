"""How files are written back: one of the old and the new text can be found at every moment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograph_torch.cli.writing import write
from tests.cli.test_files import make


def test_write_replaces_in_one_step_and_keeps_the_mode(here: Path) -> None:
    make("a.py")
    os.chmod("a.py", 0o751)
    before = os.stat("a.py").st_ino
    write(Path("a.py"), b"new", Path("a.py"))
    assert Path("a.py").read_bytes() == b"new"
    assert os.stat("a.py").st_mode & 0o7777 == 0o751
    assert os.stat("a.py").st_ino != before
    assert os.listdir() == ["a.py"]


def test_write_follows_links(here: Path) -> None:
    make("real/a.py")
    os.symlink("real/a.py", "link.py")
    write(Path("link.py"), b"new", Path("link.py"))
    assert os.path.islink("link.py")
    assert Path("real/a.py").read_bytes() == b"new"


def test_write_keeps_hard_links_together(here: Path) -> None:
    make("a.py")
    os.link("a.py", "b.py")
    write(Path("a.py"), b"new", Path("a.py"))
    assert Path("b.py").read_bytes() == b"new"
    assert os.path.samefile("a.py", "b.py")


def test_a_write_that_fails_leaves_the_old_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("a.py")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space left"):
        write(Path("a.py"), b"new", Path("a.py"))
    assert Path("a.py").read_bytes() == b"pass\n"
    assert os.listdir() == ["a.py"]
