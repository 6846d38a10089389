"""Which files a command finds, and how they are written back."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from autograph_torch.cli import files


def make(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"pass\n")


def git(directory: str = ".") -> None:
    subprocess.run(["git", "init", "--quiet", directory], check=True)


def found(*paths: str, exclude: tuple[str, ...] = (), forced: bool = False, base: Path | None = None) -> list[str]:
    return [target.shown for target in files.find(paths, files.Exclusion(exclude, forced, base)).targets]


def test_walks_directories_in_order(here: Path) -> None:
    make("b.py", "a/z.py", "a/c.txt", "a/b/x.py", "stub.pyi")
    assert found(".") == ["a/b/x.py", "a/z.py", "b.py"]


def test_without_git_skips_well_known_directories(here: Path) -> None:
    make("a.py", ".venv/b.py", "build/c.py", "__pycache__/d.py", "x/node_modules/e.py", ".hidden/f.py")
    assert found(".") == [".hidden/f.py", "a.py"]


def test_in_a_repository_skips_what_git_ignores(here: Path) -> None:
    git()
    make("a.py", "gen/b.py", "src/c.py", "src/gen_c.py", "build/d.py")
    Path(".gitignore").write_text("/gen/\n*gen_*\n")
    assert found(".") == ["a.py", "build/d.py", "src/c.py"]
    assert found("src") == ["src/c.py"]


def test_in_a_hook_the_repository_of_the_files_counts(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("one/a.py", "two/a.py", "two/skipped.py")
    git("one")
    git("two")
    Path("two/.gitignore").write_text("skipped.py\n")
    monkeypatch.setenv("GIT_DIR", str(here / "one" / ".git"))
    assert found("two") == ["two/a.py"]


def test_what_was_deleted_but_is_still_tracked_is_not_there(here: Path) -> None:
    git()
    make("a.py", "b.py")
    subprocess.run(["git", "add", "."], check=True)
    os.remove("b.py")
    assert found(".") == ["a.py"]


def test_enters_repositories_inside(here: Path) -> None:
    for outer in (True, False):
        if outer:
            git()
        make("inner/a.py", "inner/skipped.py")
        git("inner")
        Path("inner/.gitignore").write_text("skipped.py\n")
        assert found(".") == ["inner/a.py"]


def test_a_repository_below_a_plain_directory_keeps_its_ignores(here: Path) -> None:
    make("inner/a.py", "inner/skipped.py", "b.py")
    git("inner")
    Path("inner/.gitignore").write_text("skipped.py\n")
    assert found(".") == ["b.py", "inner/a.py"]


def test_what_is_named_is_done_though_git_ignores_it(here: Path) -> None:
    git()
    make(".venv/lib/package/a.py", ".venv/lib/package/deep/b.py", "c.py")
    Path(".gitignore").write_text(".venv/\n")
    assert found(".") == ["c.py"]
    assert found(".venv/lib/package") == [".venv/lib/package/a.py", ".venv/lib/package/deep/b.py"]
    assert found(".venv/lib/package/a.py") == [".venv/lib/package/a.py"]


def test_a_named_file_needs_no_suffix(here: Path) -> None:
    make("script")
    assert found("script") == ["script"]


@pytest.mark.parametrize("pattern", ["gen", "gen/", "src/gen", "gen/*", "src/gen/deep", "[ab].py", "x*"])
def test_exclude(here: Path, pattern: str) -> None:
    make("src/gen/deep/a.py", "src/keep.py")
    left = found("src", exclude=(pattern,))
    assert left == (["src/keep.py"] if pattern != "x*" else ["src/gen/deep/a.py", "src/keep.py"])


def test_exclude_spares_what_is_named(here: Path) -> None:
    make("src/a.py")
    assert found("src/a.py", exclude=("a.py",)) == ["src/a.py"]


def test_names_each_file_once(here: Path) -> None:
    make("src/a.py")
    assert found("src/a.py", "src", ".", "./src/a.py") == ["src/a.py"]


def test_missing_paths_are_reported(here: Path) -> None:
    failures = files.find(["a.py", "b"]).failures
    message = "cannot be read: No such file or directory"
    assert [(found.filename, found.message) for found in failures] == [("a.py", message), ("b", message)]


def test_outside_the_working_directory_names_are_as_given(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("src/a.py", "other/b.py")
    monkeypatch.chdir("other")
    assert found("../src") == ["../src/a.py"]
    assert found(str(here / "src")) == [(here / "src" / "a.py").as_posix()]
    assert found(str(here / "other")) == ["b.py"]


@pytest.mark.parametrize("repository", [True, False])
def test_links(here: Path, repository: bool) -> None:
    if repository:
        git()
    make("tree/a.py", "tree/deep/b.py", "outside/c.py")
    os.symlink("a.py", "tree/inside.py")
    os.symlink("../outside/c.py", "tree/leaves.py")
    os.symlink("../outside", "tree/directory")
    os.symlink("nowhere.py", "tree/broken.py")
    result = files.find(["tree"])
    assert [target.shown for target in result.targets] == ["tree/a.py", "tree/deep/b.py", "tree/inside.py"]
    assert result.notes == ("tree/leaves.py: skipped, a symbolic link out of tree",)
    once = files.without_links_to_others(result.targets)
    assert [target.shown for target in once] == ["tree/a.py", "tree/deep/b.py"]
    assert found("tree/leaves.py") == ["tree/leaves.py"]
