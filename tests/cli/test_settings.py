"""`[tool.autograph-torch]`: the command line beats it, and what it does not know is an error with its line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from autograph_torch.cli import arguments
from autograph_torch.cli.settings import NOT_HERE, SETTINGS
from tests.cli.stand_in import FILE, Run


def settle(text: str, where: str = ".") -> None:
    Path(where).mkdir(parents=True, exist_ok=True)
    (Path(where) / "pyproject.toml").write_text(text)


def table(lines: str) -> str:
    return f"[project]\nname = 'x'\n\n[tool.autograph-torch]\n{lines}\n\n[tool.other]\nverbose = 1\n"


def test_the_settings_are_flags(file: Path) -> None:
    """Every flag can be set, or has a reason why not."""
    parser = arguments.parser()
    subparsers = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    flags = {action.option_strings[-1] for action in subparsers.choices["convert"]._actions if action.option_strings}
    names = {flag.removeprefix("--").removeprefix("no-") for flag in flags} - {"help"}
    assert names == SETTINGS.keys() | NOT_HERE.keys()
    assert not SETTINGS.keys() & NOT_HERE.keys()


def test_a_setting_holds(run: Run, file: Path) -> None:
    settle(table('format = "json"'))
    assert json.loads(run("convert", "m.py").stdout)["files"][0]["path"] == "m.py"


def test_the_command_line_beats_it(run: Run, file: Path) -> None:
    settle(table('format = "json"\ndiff = true\nverbose = true\nexclude = ["m.py"]\nforce-exclude = true'))
    assert run("convert", "m.py").stderr == "no Python files found\n"
    quiet = run("convert", "-q", "--no-force-exclude", "--format", "text", "m.py")
    assert quiet.text.startswith("m.py:5: AG101")
    assert quiet.stderr == ""
    assert run("convert", "--exclude", "other.py", ".").stdout.startswith(b"{")


def test_a_check_of_the_table_gives_way_to_writing(run: Run, file: Path) -> None:
    settle(table("check = true"))
    assert run("convert", "m.py").code == 1
    assert file.read_bytes() == FILE
    assert run("convert", "-w", "m.py").code == 0
    assert file.read_bytes() != FILE


def test_the_target_and_what_is_not_converted(run_real: Run, here: Path) -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x if x.sum() > 0 else -x\n"
    (here / "m.py").write_text(text + text.replace("import torch\n", "").replace("def f", "def g"))
    settle(table('target = "torch"\ndo-not-convert = ["m.f"]'))
    changed = run_real("convert", "--format", "diff", "m.py").text
    assert "torch.cond(" in changed
    assert changed.count("\n-") == 1
    assert "ag.cond(" in run_real("convert", "--target", "autograph", "m.py").text
    assert "m.py:4: AG208 left alone: `do-not-convert` names it" in run_real("convert", "-v", "m.py").text
    assert "2 rewritten" in run_real("convert", "--do-not-convert", "other", "m.py").stderr
    assert run_real("explain", "m.py").text.count("AG208") == 1


def test_the_nearest_table_counts(run: Run, here: Path) -> None:
    settle(table("verbose = true"))
    settle("[project]\nname = 'inner'\n", "packages/inner")
    settle(table("quiet = true"), "packages/quiet")
    for name in ("inner", "quiet"):
        (here / "packages" / name / "m.py").write_bytes(FILE)
    assert "AG201" in run("convert", "packages/inner").text
    assert run("convert", "packages/quiet/m.py").stderr == ""


def test_patterns_are_meant_from_where_they_stand(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(table('exclude = ["src/generated"]'))
    for name in ("src/generated/a.py", "src/b.py"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_bytes(FILE)
    assert run("convert", "--check", ".").text.count("b.py") == 2
    monkeypatch.chdir(here / "src")
    assert "a.py" not in run("convert", "--check", ".").text
    assert "a.py" not in run("convert", "--check", str(here / "src" / "generated")).text


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        (table("quiet = true\ncolour = 'never'"), 6, 1, "unknown key `colour`"),
        (table("write = true"), 5, 1, "`write` can be given on the command line alone: it writes files"),
        (table("html = 'page.html'"), 5, 1, "`html` can be given on the command line alone: it writes files"),
        (table("verify = 'm:f'"), 5, 1, "`verify` can be given on the command line alone: it runs code"),
        (table("target = 'jax'"), 5, 1, "`target` must be one of: autograph, torch"),
        (table("check = true\ndump-ast = true"), 6, 1, "`check` and `dump-ast` exclude each other"),
        (table("do_not_convert = ['m']"), 5, 1, "unknown key `do_not_convert`"),
        (table("jobs = 0"), 5, 1, "`jobs` must be a positive whole number"),
        (table("jobs = true"), 5, 1, "`jobs` must be a positive whole number"),
        (table("\n  exclude = 'build'"), 6, 3, "`exclude` must be a list of strings"),
        (table("quiet = 'yes'"), 5, 1, "`quiet` must be true or false"),
        (table("format = 'xml'"), 5, 1, "`format` must be one of: text, diff, json, github, sarif"),
        (table("quiet = true\nverbose = true"), 6, 1, "`quiet` and `verbose` exclude each other"),
        ("x = 1\n[tool]\nautograph-torch = {speed = 1}\n", 3, 20, "unknown key `speed`"),
        ("[tool]\nautograph-torch = 1\n", 2, 1, "`autograph-torch` must be a table"),
        (table("diff = tru"), 5, 8, "not TOML: Invalid value"),
    ],
)
def test_wrong_settings(run: Run, file: Path, text: str, line: int, column: int, message: str) -> None:
    settle(text)
    for command in ("convert", "explain"):
        ran = run(command, "m.py")
        assert (ran.code, ran.text) == (2, "")
        first, snippet, *_ = ran.stderr.splitlines()
        assert first == f"pyproject.toml:{line}:{column}: AG305 {message}"
        assert snippet.strip() == text.splitlines()[line - 1].strip()


def test_other_tables_are_nobodys_business(run: Run, file: Path) -> None:
    settle("[tool.black]\nunknown = 1\n")
    assert run("convert", "m.py").code == 0
    settle("this is no TOML\n")
    assert run("convert", "m.py").code == 0


def test_stdin_takes_the_settings_of_its_file(run: Run, here: Path, stdin: Callable[[bytes], None]) -> None:
    settle(table('exclude = ["gen_*.py"]\nforce-exclude = true'), "src")
    stdin(FILE)
    assert run("convert", "-", "--stdin-filename", "src/gen_a.py").stdout == FILE
    stdin(FILE)
    assert run("convert", "-", "--stdin-filename", "src/a.py").stdout != FILE


def test_force_exclude(run: Run, file: Path) -> None:
    assert run("convert", "--check", "--exclude", "m.py", "m.py").code == 1
    assert run("convert", "--check", "--exclude", "m.py", "--force-exclude", "m.py").code == 0


def test_defaults_are_those_of_the_settings(file: Path) -> None:
    options: argparse.Namespace = arguments.parser().parse_args(["convert", "m.py"])
    assert not {name.replace("-", "_") for name in SETTINGS} & vars(options).keys()
