"""Bad files: one message that names the file and the line, exit code 2, and all other files are done."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograph_torch.cli import converting, files
from autograph_torch.cli.review import Result
from autograph_torch.cli.running import Wanted
from tests.cli.stand_in import Run

GOOD = b"""\
import torch


def f(x: torch.Tensor):
    if x.sum() > 0:
        x = -x
    return x
"""
TORCH = b"import torch\n"
NOBODY = 65534
BAD = {
    "syntax error": (TORCH + b"def f(:\n    pass\n", 2, "invalid syntax"),
    "bad indentation": (TORCH + b"if 1:\npass\n", 3, "expected an indented block after 'if' statement on line 2"),
    "tabs and spaces": (TORCH + b"if 1:\n        a\n\tb\n", 4, "inconsistent use of tabs and spaces in indentation"),
    "unfinished string": (TORCH + b"\nx = '''\n\n", 3, "unterminated triple-quoted string literal"),
    "null byte": (TORCH + b"x = 1\ny = '\0'\n", 3, "source code contains null bytes"),
    "only null bytes": (TORCH + b"\0" * 10_000, 2, "source code contains null bytes"),
    "undecodable byte": (TORCH + b"\n# \xff\n", 3, "cannot be decoded as utf-8"),
    "binary": (b"torch\n\x89PNG\r\n\x1a\n\x00\xde\xad", 2, "cannot be decoded as utf-8"),
    "utf-16": ("import torch\n".encode("utf-16") + TORCH, 1, "invalid or missing encoding"),
    "no such encoding": (b"#!/bin/python\n# coding: no-such\n" + TORCH, 1, "unknown encoding: no-such"),
    "no text encoding": (b"# coding: rot13\n" + TORCH, 1, "cannot be decoded as rot13"),
    "wrong encoding": (b"# coding: ascii\n" + TORCH + b"x = '\xc3\xa9'\n", 3, "cannot be decoded as ascii"),
    "encoding against the byte order mark": (b"\xef\xbb\xbf# coding: latin-1\n" + TORCH, 1, "encoding problem"),
    "open brackets": (TORCH + b"x = " + b"[" * 10_000 + b"\n", 2, "too many nested parentheses"),
    "nested brackets": (TORCH + b"x = " + b"(" * 10_000 + b")" * 10_000 + b"\n", 2, "too many nested parentheses"),
    "nested operators": (TORCH + b"\nx = " + b"not " * 100_000 + b"1\ny = 1\n", 3, "too deeply nested for the Python"),
    "nested blocks": (
        TORCH + b"".join(b" " * level + b"if 1:\n" for level in range(101)) + b" " * 101 + b"pass\n",
        102,
        "too many levels of indentation",
    ),
    "10 MB of a sum": (TORCH + b"x = " + b"1 + " * 2_500_000 + b"1\n", 1, "too large: 10,000,019 bytes"),
    "10 MB of a list": (TORCH + b"x = [" + b"1," * 5_000_000 + b"]\n", 1, "too large: 10,000,020 bytes"),
    "break outside of a loop": (GOOD + b"\n\nif 1:\n    break\n", GOOD.count(b"\n") + 4, "'break' outside loop"),
    "a parameter twice": (GOOD + b"def g(a, a): ...\n", GOOD.count(b"\n") + 1, "duplicate argument 'a'"),
    "unknown directive": (b"import torch\n\n# autograph: sikp\n", 3, "unknown directive `autograph: sikp`"),
}


@pytest.mark.parametrize(("raw", "line", "message"), BAD.values(), ids=BAD)
def test_bad_file(run_real: Run, raw: bytes, line: int, message: str) -> None:
    Path("a_bad.py").write_bytes(raw)
    Path("good.py").write_bytes(GOOD)
    ran = run_real("convert", "-w", ".")
    assert ran.code == 2
    first = ran.stderr.splitlines()[0]
    assert first.startswith(f"a_bad.py:{line}:")
    assert message in first
    assert len(ran.stderr) < 1000
    assert Path("a_bad.py").read_bytes() == raw
    assert Path("good.py").read_bytes() != GOOD


DEEP = {
    "a long sum": "    y = " + " + ".join(["x"] * 900),
    "attributes": "    y = x" + ".T" * 900,
    "calls": "    y = x" + ".abs()" * 450,
    "a long list": "    y = [" + "1, " * 5_000 + "]",
}


@pytest.mark.parametrize("line", DEEP.values(), ids=DEEP)
@pytest.mark.parametrize("inside", [True, False])
def test_long_expressions_are_no_problem(run_real: Run, line: str, inside: bool) -> None:
    text = GOOD.decode()
    text = text.replace("    if", f"{line}\n    if") if inside else text.replace("\n\n\n", f"\nx = {line.strip()}\n")
    Path("m.py").write_text(text)
    ran = run_real("convert", "-w", "m.py")
    assert (ran.code, ran.stderr) == (0, "1 file changed (1 rewritten, 0 left alone), 0 unchanged\n")
    assert line.strip() in Path("m.py").read_text()


def test_what_is_too_deep_for_the_compiler_is_left_alone(run_real: Run) -> None:
    deep = "def g(x: torch.Tensor):\n    return -x if x.any() else (" + " + ".join(["1"] * 2500) + ")\n"
    Path("m.py").write_text(GOOD.decode() + deep)
    ran = run_real("convert", "-v", "--check", "m.py")
    assert ran.text.splitlines() == [
        "m.py:8: AG290 `g` is left alone: it is too deeply nested",
        "m.py:5: AG101 `if` on a tensor becomes ag.cond",
    ]


def test_a_tree_too_deep_to_show(run_real: Run) -> None:
    Path("m.py").write_text("import torch\nx = " + " + ".join(["1"] * 900) + "\n")
    ran = run_real("convert", "--dump-ast", "m.py")
    assert (ran.code, ran.text) == (0, "# m.py\n# too deeply nested to be shown\n")


@pytest.mark.parametrize("repository", [True, False])
def test_links_in_circles(run_real: Run, repository: bool) -> None:
    if repository:
        subprocess.run(["git", "init", "--quiet"], check=True)
    os.makedirs("tree/deep")
    Path("tree/deep/m.py").write_bytes(GOOD)
    os.symlink("..", "tree/deep/up")
    os.symlink("up.py", "tree/deep/up.py")
    os.symlink("two", "tree/one")
    os.symlink("one", "tree/two")
    ran = run_real("convert", "tree", "--check")
    assert (ran.code, ran.stderr) == (1, "1 file would change (1 rewritten, 0 left alone), 0 unchanged\n")
    ran = run_real("convert", "--check", "tree/deep/up.py", "tree/deep/up/deep/m.py")
    assert ran.code == 2
    assert "tree/deep/up.py:1:1: AG301 cannot be read: Too many levels of symbolic links\n" in ran.stderr
    assert "tree/deep/up/deep/m.py:5: AG101" in ran.text


def test_a_file_that_vanishes_before_it_is_read(run_real: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.py", "b.py"):
        Path(name).write_bytes(GOOD)
    find = files.find

    def find_and_lose(*arguments: object) -> files.Found:
        found = find(*arguments)  # type: ignore[arg-type]
        os.remove("a.py")
        return found

    monkeypatch.setattr(files, "find", find_and_lose)
    ran = run_real("convert", "-w", ".")
    assert ran.code == 2
    assert ran.stderr.startswith("a.py:1:1: AG301 cannot be read: No such file or directory\n")
    assert Path("b.py").read_bytes() != GOOD


def test_a_file_that_vanishes_before_it_is_written(run_real: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    os.makedirs("a")
    for name in ("a/m.py", "b.py"):
        Path(name).write_bytes(GOOD)
    convert = converting.convert_bytes

    def convert_and_lose(raw: bytes, shown: str, wanted: Wanted) -> Result:
        shutil.rmtree("a", ignore_errors=True)
        return convert(raw, shown, wanted)

    monkeypatch.setattr(converting, "convert_bytes", convert_and_lose)
    ran = run_real("convert", "-w", "a/m.py", "b.py")
    assert ran.code == 2
    assert ran.stderr.startswith("a/m.py:1:1: AG301 cannot be written: No such file or directory\n")
    assert not Path("a").exists()
    assert Path("b.py").read_bytes() != GOOD


def test_a_process_that_dies(run_real: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abcdefgh":
        Path(f"{name}.py").write_bytes(GOOD)
    convert = converting.convert_bytes

    def convert_or_die(raw: bytes, shown: str, wanted: Wanted) -> Result:
        if shown == "c.py":
            os._exit(9)
        return convert(raw, shown, wanted)

    monkeypatch.setattr(converting, "convert_bytes", convert_or_die)
    ran = run_real("convert", "-w", "-j", "2", ".")
    assert ran.code == 2
    assert ran.stderr.startswith("c.py:1:1: AG390 internal error, please report it: the process that converted it was ")
    assert {path.name for path in Path().glob("*.py") if path.read_bytes() == GOOD} == {"c.py"}


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Permissions count also when the tests are run by root: in a directory that another user can enter."""
    if not hasattr(os, "geteuid"):
        pytest.skip("no such permissions here")
    directory = tempfile.mkdtemp()
    os.chmod(directory, 0o777)
    if os.geteuid() == 0:
        os.chown(directory, NOBODY, NOBODY)
    monkeypatch.chdir(directory)
    monkeypatch.setenv("HOME", directory)  # for git
    was_root = os.geteuid() == 0
    yield
    if was_root:
        os.seteuid(0)
    monkeypatch.undo()
    shutil.rmtree(directory)


def give_up_privileges() -> None:
    import autograph_torch.cli.writing
    import autograph_torch.pipeline  # noqa: F401  (the checkout may not be readable afterwards)

    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    if os.geteuid() == 0:
        pytest.skip("root stays root here")


def test_a_file_without_permission(run_real: Run, nobody: None) -> None:
    for name, mode in {"locked.py": 0, "good.py": 0o666}.items():
        Path(name).write_bytes(GOOD)
        os.chmod(name, mode)
    give_up_privileges()
    ran = run_real("convert", "--check", ".")
    assert ran.code == 2
    assert ran.stderr.startswith("locked.py:1:1: AG301 cannot be read: Permission denied\n")
    assert "good.py:5: AG101" in ran.text


@pytest.mark.parametrize("mode", [0, 0o444])
@pytest.mark.parametrize("repository", [True, False])
def test_a_directory_without_permission(run_real: Run, nobody: None, repository: bool, mode: int) -> None:
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    if repository:
        subprocess.run(["git", "init", "--quiet"], check=True)
    os.makedirs("locked")
    for name in ("locked/m.py", "good.py"):
        Path(name).write_bytes(GOOD)
    os.chmod("locked", mode)
    give_up_privileges()
    ran = run_real("convert", "--check", ".")
    os.chmod("locked", 0o777)
    assert ran.code == 2
    assert "Permission denied" in ran.stderr
    assert ran.stderr.startswith("locked")
    assert "good.py:5: AG101" in ran.text


def test_a_read_only_file(run_real: Run, nobody: None) -> None:
    for name, mode in {"a.py": 0o444, "b.py": 0o666}.items():
        Path(name).write_bytes(GOOD)
        os.chmod(name, mode)
    give_up_privileges()
    ran = run_real("convert", "-w", "a.py", "b.py")
    assert ran.code == 2
    assert ran.stderr.startswith("a.py:1:1: AG301 cannot be written: Permission denied\n")
    assert Path("a.py").read_bytes() == GOOD
    assert Path("b.py").read_bytes() != GOOD


def test_a_read_only_directory(run_real: Run, nobody: None) -> None:
    os.makedirs("out")
    os.chmod("out", 0o555)
    Path("m.py").write_bytes(GOOD)
    give_up_privileges()
    for target in ("out", "out/deeper"):
        ran = run_real("convert", "-o", target, "m.py")
        assert ran.code == 2
        assert ran.stderr.startswith("m.py:1:1: AG301 cannot be written: Permission denied\n")


def test_what_is_no_file(run_real: Run) -> None:
    os.makedirs("directory.py")
    if hasattr(os, "mkfifo"):
        os.mkfifo("pipe.py")
    Path("m.py").write_bytes(GOOD)
    assert run_real("convert", "--check", ".").stderr.startswith("1 file would change")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
def test_what_has_no_end(run_real: Run) -> None:
    Path("m.py").write_bytes(GOOD)
    ran = run_real("convert", "--check", "/dev/zero", "m.py")
    assert (ran.code, ran.stderr.splitlines()[0]) == (2, "/dev/zero:1:1: AG301 cannot be read: File too large")
    assert "1 file would change" in ran.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_names_that_are_not_text(run_real: Run) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    Path(name).write_bytes(GOOD)
    for format in ("text", "diff", "json", "github", "sarif"):
        ran = run_real("convert", "--format", format, ".")
        assert ran.code == 0
        assert ran.stdout
    assert "caf\\udce9.py:5" in run_real("explain", ".").text
    assert run_real("explain", "--format", "json", ".").code == 0
    Path(name).write_bytes(TORCH + b"(")
    ran = run_real("convert", ".")
    assert ran.code == 2
    assert "AG301 '(' was never closed" in ran.stderr
