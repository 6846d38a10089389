"""`autograph-torch convert`: its modes, formats and exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.stand_in import CONVERTED, FILE, Run


def test_previews_by_default(run: Run, file: Path) -> None:
    ran = run("convert", "m.py")
    assert ran.code == 0
    assert file.read_bytes() == FILE
    assert ran.text == DIFF_WITH_REASONS
    assert ran.stderr == "1 file would change (2 rewritten, 1 left alone), 0 unchanged; -v shows what was left alone\n"


DIFF_WITH_REASONS = """\
m.py:5: AG101 'if' on a tensor -> ag.cond
--- a/m.py
+++ b/m.py
@@ -1,8 +1,9 @@
+import ag
 import torch
 a = 1
 b = 2
 c = 3
-tensor_if = 4  # why
+ag_cond = 4  # why
 d = 5
 e = 6
 f = 7
m.py:13: AG101 'if' on a tensor -> ag.cond
--- a/m.py
+++ b/m.py
@@ -10,5 +11,5 @@
 h = 9
 i = 10
 j = 11
-k = tensor_if
+k = ag_cond
 leave = 12
"""


@pytest.mark.parametrize("format", ["text", "diff"])
@pytest.mark.parametrize("tool", [["git", "apply"], ["patch", "-p1"]])
def test_the_diff_applies(run: Run, file: Path, format: str, tool: list[str]) -> None:
    if shutil.which(tool[0]) is None:
        pytest.skip(f"no {tool[0]} here")
    ran = run("convert", "m.py", "--format", format, "-v")
    subprocess.run(tool, input=ran.stdout, check=True, capture_output=True)
    assert file.read_bytes() == CONVERTED


def test_format_diff_is_the_diff_alone(run: Run, file: Path) -> None:
    lines = run("convert", "m.py", "--format", "diff").text.splitlines()
    assert [line for line in lines if line.startswith(("---", "+++"))] == ["--- a/m.py", "+++ b/m.py"]
    assert not any("AG" in line for line in lines)


def test_verbose_says_what_was_left_alone(run: Run, file: Path) -> None:
    ran = run("convert", "-v", "m.py")
    assert ran.text == "m.py:14: AG201 left alone: 'yield' in the branch\n" + DIFF_WITH_REASONS
    assert "-v" not in ran.stderr


def test_quiet_has_no_summary(run: Run, file: Path) -> None:
    ran = run("convert", "-q", "m.py")
    assert ran.text == DIFF_WITH_REASONS
    assert ran.stderr == ""


def test_write(run: Run, file: Path) -> None:
    ran = run("convert", "--write", "m.py")
    assert (ran.code, ran.text) == (0, "")
    assert file.read_bytes() == CONVERTED
    assert ran.stderr.startswith("1 file changed (2 rewritten, 1 left alone), 0 unchanged")
    again = run("convert", "-w", "m.py")
    assert again.stderr.startswith("0 files changed")
    assert file.read_bytes() == CONVERTED


def test_write_with_diff_shows_it_too(run: Run, file: Path) -> None:
    assert run("convert", "-w", "--diff", "m.py").text == DIFF_WITH_REASONS
    assert file.read_bytes() == CONVERTED


def test_an_unchanged_file_is_not_written(run: Run, here: Path) -> None:
    (here / "m.py").write_bytes(b"import torch\r\n")
    before = os.stat("m.py")
    assert run("convert", "-w", "m.py").code == 0
    after = os.stat("m.py")
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_check(run: Run, file: Path) -> None:
    ran = run("convert", "--check", "m.py")
    assert ran.code == 1
    assert ran.text == "m.py:5: AG101 'if' on a tensor -> ag.cond\nm.py:13: AG101 'if' on a tensor -> ag.cond\n"
    assert file.read_bytes() == FILE
    assert run("convert", "--check", "--diff", "m.py").text == DIFF_WITH_REASONS
    quiet = run("convert", "--check", "-q", "m.py")
    assert (quiet.code, quiet.text, quiet.stderr) == (1, "", "")
    run("convert", "-w", "m.py")
    assert run("convert", "--check", "m.py").code == 0


def test_output_mirrors_the_tree(run: Run, here: Path) -> None:
    for name, content in {"src/a.py": FILE, "src/deep/b.py": b"no tensors\n", "src/deep/c.txt": b""}.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_bytes(content)
    os.chmod("src/a.py", 0o755)
    assert run("convert", "src", "-o", "out").code == 0
    written = {path.relative_to("out").as_posix() for path in Path("out").rglob("*") if path.is_file()}
    assert written == {"a.py", "deep/b.py"}
    assert Path("out/a.py").read_bytes() == CONVERTED
    assert Path("out/deep/b.py").read_bytes() == b"no tensors\n"
    assert os.stat("out/a.py").st_mode & 0o777 == 0o755
    assert Path("src/a.py").read_bytes() == FILE


def test_output_of_several_paths_keeps_their_names(run: Run, here: Path) -> None:
    for name in ("src/a.py", "tests/a.py"):
        (here / name).parent.mkdir()
        (here / name).write_bytes(FILE)
    assert run("convert", "src", "tests/a.py", "-o", "out").code == 0
    assert Path("out/src/a.py").read_bytes() == Path("out/tests/a.py").read_bytes() == CONVERTED


def test_output_inside_the_tree_is_not_read_again(run: Run, file: Path) -> None:
    for _ in range(2):
        assert run("convert", ".", "-o", "out").code == 0
    assert [path.as_posix() for path in Path("out").rglob("*")] == ["out/m.py"]


@pytest.mark.parametrize(
    "arguments",
    [[], ["m.py", "-o", "."], ["-w", "--check", "m.py"], ["-", "m.py"], ["-", "-w"], ["-", "-o", "x"], ["m.py", "-j0"]],
)
def test_bad_usage(run: Run, file: Path, arguments: list[str]) -> None:
    ran = run("convert", *arguments)
    assert (ran.code, ran.text) == (2, "")
    assert "usage:" in ran.stderr
    assert file.read_bytes() == FILE


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"torch\n  wrong\n", "bad.py:2:3: AG301 invalid syntax\n      wrong\n      ^"),
        (b"torch\ncrash\n", "bad.py:1:1: AG390 internal error, please report it: ZeroDivisionError: no luck"),
    ],
)
def test_a_failed_file_does_not_stop_the_others(run: Run, file: Path, bad: bytes, message: str) -> None:
    Path("bad.py").write_bytes(bad)
    ran = run("convert", "-w", "bad.py", "missing.py", "m.py")
    assert ran.code == 2
    assert message in ran.stderr
    assert "missing.py:1:1: AG301 cannot be read: No such file or directory\n" in ran.stderr
    assert "2 failed" in ran.stderr
    assert Path("bad.py").read_bytes() == bad
    assert file.read_bytes() == CONVERTED


def test_a_missing_path_alone_fails(run: Run) -> None:
    assert run("convert", "missing.py").code == 2


def test_a_failed_file_is_not_mirrored(run: Run, file: Path) -> None:
    Path("bad.py").write_bytes(b"torch wrong\n")
    assert run("convert", ".", "-o", "out").code == 2
    assert [path.name for path in Path("out").iterdir()] == ["m.py"]


def test_stdin_gives_the_converted_text(run: Run, stdin: Callable[[bytes], None]) -> None:
    stdin(FILE)
    ran = run("convert", "-")
    assert (ran.code, ran.stdout) == (0, CONVERTED)


def test_stdin_with_diff_names_the_file(run: Run, stdin: Callable[[bytes], None]) -> None:
    stdin(FILE)
    ran = run("convert", "-", "--diff", "--stdin-filename", "m.py")
    assert ran.text == DIFF_WITH_REASONS


def test_stdin_check(run: Run, stdin: Callable[[bytes], None]) -> None:
    stdin(FILE)
    assert run("convert", "-", "--check").code == 1
    stdin(CONVERTED)
    assert run("convert", "-", "--check").code == 0


def test_stdin_that_fails_gives_no_text(run: Run, stdin: Callable[[bytes], None]) -> None:
    stdin(b"torch wrong\n")
    ran = run("convert", "-")
    assert (ran.code, ran.stdout) == (2, b"")
    assert "<stdin>:1:3: AG301 invalid syntax" in ran.stderr


def test_json(run: Run, file: Path) -> None:
    Path("bad.py").write_bytes(b"torch wrong\n")
    Path("same.py").write_bytes(b"torch\n")
    ran = run("convert", "--format", "json", "m.py", "bad.py", "same.py")
    assert ran.code == 2
    changed, failed, unchanged = json.loads(ran.stdout)["files"]
    assert (changed["path"], changed["status"]) == ("m.py", "changed")
    assert (failed["status"], failed["edits"], failed["diagnostics"][0]["code"]) == ("failed", [], "AG301")
    assert (unchanged["status"], unchanged["edits"]) == ("unchanged", [])
    assert [edit["reason"] for edit in changed["edits"]] == [
        [],
        ["AG101 'if' on a tensor -> ag.cond"],
        ["AG101 'if' on a tensor -> ag.cond"],
    ]
    assert _applied(FILE, changed["edits"]) == CONVERTED


def _applied(raw: bytes, edits: list[dict]) -> bytes:
    for edit in reversed(edits):
        offsets = edit["range"]["byteOffset"]
        raw = raw[: offsets["start"]] + edit["replacement"].encode() + raw[offsets["end"] :]
    return raw


def test_github(run: Run, file: Path) -> None:
    Path("bad.py").write_bytes(b"torch wrong\n")
    ran = run("convert", "--format", "github", "-v", "m.py", "bad.py")
    assert ran.text.splitlines() == [
        "::warning title=autograph-torch (AG101),file=m.py,line=5,col=1,endLine=5::'if' on a tensor -> ag.cond",
        "::warning title=autograph-torch (AG101),file=m.py,line=13,col=1,endLine=13::'if' on a tensor -> ag.cond",
        "::notice title=autograph-torch (AG201),file=m.py,line=14,col=5,endLine=14::left alone: 'yield' in the branch",
        "::error title=autograph-torch (AG301),file=bad.py,line=1,col=3,endLine=1::invalid syntax",
    ]
    assert "::notice" not in run("convert", "--format", "github", "m.py").text


def test_dump_ast_shows_the_rewritten_tree(run: Run, file: Path) -> None:
    text = run("convert", "--dump-ast", "m.py").text
    assert text.startswith("# m.py\nModule(\n")
    assert "id='ag_cond'" in text
    assert "tensor_if" not in text


def test_colour(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    coloured = run("convert", "--color", "always", "m.py").text
    assert "\x1b[31m-tensor_if = 4  # why\x1b[0m" in coloured
    assert "\x1b[32m+ag_cond = 4  # why\x1b[0m" in coloured
    assert "\x1b" not in run("convert", "--color", "never", "m.py").text
    assert "\x1b" not in run("convert", "m.py").text  # not a terminal


def test_no_color_turns_auto_off(monkeypatch: pytest.MonkeyPatch) -> None:
    from autograph_torch.cli.main import _wants_colour

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert _wants_colour("auto")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not _wants_colour("auto")
    assert _wants_colour("always")


def test_files_without_torch_are_not_even_parsed(run: Run, here: Path) -> None:
    (here / "m.py").write_bytes(b"crash, and not Python at all: \xff\n")
    ran = run("convert", "m.py")
    assert (ran.code, ran.text) == (0, "")


def test_several_processes_keep_the_order(run: Run, here: Path) -> None:
    names = [f"m{number:02}.py" for number in range(12)]
    for name in names:
        (here / name).write_bytes(b"x = 1\n")
    report = json.loads(run("convert", ".", "-j", "2", "--format", "json").stdout)
    assert [file["path"] for file in report["files"]] == names


def test_no_python_files(run: Run, here: Path) -> None:
    ran = run("convert", ".")
    assert (ran.code, ran.stderr) == (0, "no Python files found\n")


def test_a_closed_pipe_is_not_an_error(here: Path) -> None:
    for number in range(200):
        (here / f"m{number}.py").write_bytes(b"x = 1\n")
    command = f"{sys.executable} -m autograph_torch convert --dump-ast . | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env=_environment(), check=False)
    assert done.stdout == "# m0.py\n"
    assert "Traceback" not in done.stderr


def _environment() -> dict[str, str]:
    root = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": root}
