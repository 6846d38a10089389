"""How files are written back: one of the old and the new text can be found at every moment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograph_torch.cli import writing
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


FILL_UP = """
import resource, signal, sys
from pathlib import Path
from autograph_torch.cli.writing import write
signal.signal(signal.SIGXFSZ, signal.{action})  # ignored, the kernel refuses the write, as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
try:
    write(Path("a.py"), b"new" * 10_000, Path("a.py"))
except OSError as error:
    sys.exit(f"refused: {{error.strerror}}")
"""


@pytest.mark.parametrize("links", [1, 2])
@pytest.mark.parametrize("limit", [0, 1, 10_000, 20_000])
def test_a_full_disk_leaves_the_old_file(here: Path, links: int, limit: int) -> None:
    old = prepared(links)
    done = python(FILL_UP.format(limit=limit, action="SIG_IGN"))
    assert done.stderr.startswith("refused: ")
    assert Path("a.py").read_bytes() == old
    assert sorted(os.listdir()) == ["a.py", "b.py"][:links]


def test_an_overwritten_file_that_cannot_be_restored_is_kept_beside(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = prepared(links=2)

    def fill(real: Path, data: bytes) -> None:
        real.write_bytes(data[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "_fill", fill)
    with pytest.raises(OSError, match=r"the old text is in a\.py\.orig"):
        write(Path("a.py"), b"new", Path("a.py"))
    assert Path("a.py.orig").read_bytes() == old


KILL = """
import os, signal
from pathlib import Path
from autograph_torch.cli import writing

count = 0
def deadly(call):
    def wrapped(*arguments, **options):
        global count
        if count == {step}:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1
        return call(*arguments, **options)
    return wrapped

for name in ("fsync", "chmod", "chown", "replace"):
    setattr(os, name, deadly(getattr(os, name)))
os.fdopen = deadly(os.fdopen)
Path.unlink = deadly(Path.unlink)
writing.write(Path("a.py"), b"new" * 10_000, Path("a.py"))
print("done", count)
"""


@pytest.mark.parametrize("links", [1, 2])
def test_a_kill_at_any_step_leaves_the_old_text_or_the_new(here: Path, links: int) -> None:
    old, new = prepared(links), b"new" * 10_000
    finished = python(KILL.format(step=-1))
    steps = int(finished.stdout.split()[1])
    assert steps >= 4
    for step in range(steps):
        Path("a.py").write_bytes(old)
        assert python(KILL.format(step=step)).returncode == -9
        left = {path.name: path.read_bytes() for path in Path().iterdir()}
        assert left["a.py"] in (old, new) if links == 1 else {old, new} & set(left.values())
        for name in left.keys() - {"a.py", "b.py"}:
            assert not name.endswith(".py")  # a later run does not take it for a source file
            os.remove(name)


@pytest.mark.parametrize("links", [1, 2])
def test_a_kill_in_the_middle_of_the_text(here: Path, links: int) -> None:
    old = prepared(links)
    assert python(FILL_UP.format(limit=20_000, action="SIG_DFL")).returncode == -25
    left = [path.read_bytes() for path in Path().iterdir()]
    assert old in left
    assert any(len(text) == 20_000 for text in left)


def prepared(links: int) -> bytes:
    """`a.py`, with another name or without."""
    old = b"old" * 5_000
    Path("a.py").write_bytes(old)
    if links == 2:
        os.link("a.py", "b.py")
    return old


def python(program: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    command = [sys.executable, "-B", "-c", program]
    environment = {**os.environ, "PYTHONPATH": root}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_stopped_write_cleans_up(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("a.py")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        write(Path("a.py"), b"new", Path("a.py"))
    assert os.listdir() == ["a.py"]


def test_through_a_chain_of_links_and_modes(here: Path) -> None:
    make("real/a.py")
    os.chmod("real/a.py", 0o640)
    os.symlink("real", "directory")
    os.symlink("directory/a.py", "one.py")
    os.symlink("one.py", "two.py")
    write(Path("two.py"), b"new", Path("two.py"))
    assert os.path.islink("two.py")
    assert os.path.islink("one.py")
    assert Path("real/a.py").read_bytes() == b"new"
    assert os.stat("real/a.py").st_mode & 0o777 == 0o640
    assert os.listdir("real") == ["a.py"]
