"""The packages hold what they should: `passes/` as `autograph_torch.passes`, type information, and no name of its own.

Built in a copy, by setuptools alone, without a network: the sdist from the checkout, the wheel from the sdist.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from autograph_torch import __version__

ROOT = Path(__file__).parents[1]
NOT_SOURCES = shutil.ignore_patterns(
    ".git", ".venv", ".hypothesis", "*_cache", "__pycache__", "build", "dist", "*.egg-info"
)

pytest.importorskip("setuptools", minversion="77")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository as a fresh clone has it."""
    return Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("clone") / "repository", ignore=NOT_SOURCES))


@pytest.fixture(scope="module")
def sdist(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("sdist", checkout, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made from what is in the sdist and nothing else."""
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    (project,) = unpacked.iterdir()
    return built("wheel", project, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the wheel installed in it."""
    site = tmp_path_factory.mktemp("site")
    python("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site, wheel, cwd=site)
    return site


def built(kind: str, project: Path, output: Path) -> Path:
    python("-c", f"from setuptools.build_meta import build_{kind} as build; build({str(output)!r})", cwd=project)
    (archive,) = output.iterdir()
    return archive


def python(*arguments: str | Path, cwd: Path, path: str = "") -> str:
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_has_every_module(wheel: Path) -> None:
    expected = {path.relative_to(ROOT).as_posix() for path in (ROOT / "autograph_torch").rglob("*.py")}
    expected |= {f"autograph_torch/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "passes").rglob("*.py")}
    assert {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".py")} == expected


def test_the_wheel_has_the_parts_of_the_page(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {"autograph_torch/cli/page.css", "autograph_torch/cli/page.js"} <= set(names)


def test_the_wheel_is_typed_and_takes_no_other_name(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "autograph_torch/py.typed" in names
    assert {name.split("/")[0] for name in names} == {"autograph_torch", f"autograph_torch-{__version__}.dist-info"}


def test_the_wheel_has_the_command(wheel: Path) -> None:
    entries = zipfile.ZipFile(wheel).read(f"autograph_torch-{__version__}.dist-info/entry_points.txt").decode()
    assert "autograph-torch = autograph_torch.cli.main:main" in entries


def test_the_sdist_can_be_tested(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "Makefile", "constraints.txt", "passes/__init__.py", "tests/conftest.py"} <= names


IMPORTS_PASSES = """
import sys, autograph_torch.passes
print('passes' in sys.modules, 'torch' in sys.modules, autograph_torch.passes.__file__)
"""


def test_the_installed_passes_import_by_their_one_name(installed: Path, tmp_path: Path) -> None:
    found = python("-c", IMPORTS_PASSES, cwd=tmp_path, path=str(installed)).split()
    assert found == ["False", "False", str(installed / "autograph_torch" / "passes" / "__init__.py")]


def test_a_clone_works_without_being_installed(checkout: Path) -> None:
    found = python("-c", IMPORTS_PASSES, cwd=checkout).split()
    assert found == ["False", "False", str(checkout / "passes" / "__init__.py")]


def test_the_installed_command_runs(installed: Path, tmp_path: Path) -> None:
    text = python("-m", "autograph_torch", "--version", cwd=tmp_path, path=str(installed))
    assert text == f"autograph-torch {__version__}\n"
