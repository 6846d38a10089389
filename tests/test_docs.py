"""The documentation says what the code does: generated pages are up to date, and the README's diff is a real one."""

from __future__ import annotations

import argparse
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import autograph_torch
from autograph_torch.cli.arguments import parser
from autograph_torch.diagnostics import RULES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("docs/*.md")])


def test_diagnostics_page_is_up_to_date() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "generate.py"))["page"]()
    assert (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8") == page, "run python docs/generate.py"


def test_diff_of_the_readme(tmp_path: Path) -> None:
    source, diff = block("python"), block("diff")
    (tmp_path / "shrink.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {MAIN}", "convert", "shrink.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == diff


MAIN = "from autograph_torch.cli.main import main; sys.exit(main())"


def block(language: str) -> str:
    """The first code block of a language."""
    found = re.search(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found
    return found.group(1)


def test_readme_names_everything_that_is_public() -> None:
    assert [name for name in autograph_torch.__all__ if name != "__version__" and f"`{name}" not in README] == []


def test_readme_names_every_flag() -> None:
    (commands,) = [action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)]
    for command in commands.choices.values():
        for action in command._actions:
            names = [name for name in action.option_strings if not name.startswith("--no-")]
            named = [name for name in names if re.search(rf"(?<![\w-]){name}(?![\w-])", README)]
            assert named or names in ([], ["-h", "--help"]), names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_is_consistent(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []
    assert sorted(set(re.findall(r"\bAG\d{3}\b", text)) - set(RULES)) == []
