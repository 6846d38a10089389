"""The command as a process: it starts fast, without torch, and explains itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograph_torch import __version__
from autograph_torch.diagnostics import RULES
from tests.cli.stand_in import CONVERTED, FILE, Run

ROOT = Path(__file__).parents[2]


def test_version(run: Run) -> None:
    ran = run("--version")
    assert (ran.code, ran.text) == (0, f"autograph-torch {__version__}\n")


def test_rule_explains_a_code(run: Run) -> None:
    ran = run("rule", "ag103")
    assert ran.code == 0
    rule = RULES["AG103"]
    for part in ("AG103", rule.title, rule.explanation, rule.before.splitlines()[0], rule.after.splitlines()[0]):
        assert part in ran.text


def test_rule_alone_lists_all(run: Run) -> None:
    assert [line.split()[0] for line in run("rule").text.splitlines()] == list(RULES)


def test_unknown_rule(run: Run) -> None:
    ran = run("rule", "AG999")
    assert (ran.code, ran.text) == (2, "")
    assert "AG999" in ran.stderr


def test_without_a_command(run: Run) -> None:
    ran = run()
    assert ran.code == 2
    assert "usage:" in ran.stderr


def test_hooks_of_pre_commit(run: Run, file: Path) -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text()
    entries = re.findall(r"^  entry: autograph-torch (.*)$", hooks, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^- id: ", hooks, re.MULTILINE)) == 2
    check, write = (entry.split() for entry in entries)
    assert run(*check, "m.py").code == 1
    assert file.read_bytes() == FILE
    assert run(*write, "m.py").code == 0
    assert file.read_bytes() == CONVERTED
    assert run(*check, "m.py").code == 0


def test_recipes_of_the_readme(run: Run, here: Path, stdin: Callable[[bytes], None]) -> None:
    readme = (ROOT / "README.md").read_text()
    settings = re.search(r"```toml\n(\[tool\.autograph-torch\].*?)```", readme, re.DOTALL)
    assert settings
    Path("pyproject.toml").write_text(settings[1])
    Path("src").mkdir()
    Path("src/m.py").write_bytes(FILE)
    commands = re.findall(
        r"autograph-torch (convert.*?src/)(?: >.*)?$", readme.split("GitHub workflow")[1], re.MULTILINE
    )
    assert [run(*command.split()).code for command in commands] == [1, 0]
    (editor,) = re.findall(r"^:%!autograph-torch (.*)$", readme, re.MULTILINE)
    stdin(FILE)
    assert run(*editor.replace("%", "src/m.py").split()).stdout == CONVERTED


SMALL = """\
import torch


def clip(x):
    if x.norm() > 1:
        x = x / x.norm()
    return x
"""


def test_torch_is_never_imported(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SMALL)
    program = (
        "import sys\n"
        "from autograph_torch.cli.main import main\n"
        "code = main(['convert', '-q', 'm.py'])\n"
        "print(code, [name for name in ('torch', 'numpy', 'rich') if name in sys.modules], file=sys.stderr)\n"
    )
    done = python("-c", program, cwd=tmp_path)
    assert done.stderr == "0 []\n"
    assert "+++ b/m.py" in done.stdout


def test_converted_code_is_never_run(run_real: Run, here: Path) -> None:
    Path("m.py").write_text(SMALL + '\n\nopen("ran", "w").close()\nraise SystemExit(9)\n')
    Path("pyproject.toml").write_text("[tool.autograph-torch]\nverbose = true\n")
    for form in ("text", "diff", "json", "github", "sarif"):
        for target in ("autograph", "torch"):
            assert run_real("convert", "--format", form, "--target", target, "m.py").code == 0
    assert run_real("convert", "--dump-ast", "m.py").code == 0
    assert run_real("convert", "--html", "page.html", "m.py").code == 0
    assert run_real("explain", "m.py").code == 0
    assert run_real("convert", "-o", "copy", "m.py").code == 0
    assert run_real("convert", "-w", "m.py").code == 0
    assert sorted(os.listdir()) == ["copy", "m.py", "page.html", "pyproject.toml"]


def test_a_file_without_torch_is_only_read(run_real: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("m.py").write_text("def f(x):\n    if x.sum() > 0:\n        return x\n")
    monkeypatch.setattr("autograph_torch.pipeline.convert_source", None)
    assert run_real("convert", "--check", "m.py").code == 0
    Path("m.py").write_text("import torch\n")
    assert run_real("convert", "--check", "m.py").code == 2


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="no way to measure a child's CPU time")
def test_a_small_file_takes_less_than_a_third_of_a_second(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SMALL)
    python("-m", "autograph_torch", "convert", "m.py", cwd=tmp_path)  # compiles the modules
    assert min(cpu_seconds(tmp_path) for _ in range(5)) < 0.3


def cpu_seconds(directory: Path) -> float:
    """CPU time: the wall clock of a busy machine would say nothing about the command."""
    command = [sys.executable, "-m", "autograph_torch", "convert", "-q", "m.py"]
    child = subprocess.Popen(command, cwd=directory, env=environment(), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    return usage.ru_utime + usage.ru_stime


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, check=False)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""}
