"""Which files a command works on, and how one is written back without ever leaving half a file behind.

Directories are walked for `*.py`; what git ignores there is skipped. A file named on the command line is always done.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

# Directories nobody wants converted, for trees that no git repository describes.
IGNORED_DIRECTORIES = frozenset(
    {
        ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".svn",
        ".tox", ".venv", "__pycache__", "build", "dist", "node_modules", "venv",
    }
)  # fmt: skip

# Set inside git's hooks: they would make git look at the repository of the hook instead of the one asked about.
_GIT_SAYS_WHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")


@dataclass(frozen=True)
class Target:
    """One file to work on; `shown` is how messages and diffs name it."""

    path: Path
    shown: str


@dataclass(frozen=True)
class Found:
    """What the command line's paths came to."""

    targets: tuple[Target, ...]
    notes: tuple[str, ...]
    missing: tuple[str, ...]


def find(paths: Sequence[str], exclude: Sequence[str] = (), leave_out: Path | None = None) -> Found:
    """The files that `paths` stand for, in order and each once; nothing below `leave_out`."""
    targets: dict[str, Target] = {}
    notes: list[str] = []
    missing = [path for path in paths if not os.path.exists(path)]
    for path in (Path(path) for path in paths if path not in missing):
        for file in _inside(path, exclude, leave_out, notes) if path.is_dir() else [path]:
            targets.setdefault(os.path.abspath(file), Target(file, shown(file)))
    return Found(tuple(targets.values()), tuple(notes), tuple(missing))


def without_links_to_others(targets: Sequence[Target]) -> list[Target]:
    """`targets` without the symbolic links to files that are targets anyway: those would be written twice."""
    real = {os.path.realpath(target.path) for target in targets if not target.path.is_symlink()}
    return [target for target in targets if not target.path.is_symlink() or os.path.realpath(target.path) not in real]


def shown(path: Path) -> str:
    """`path` as a person would name it here: relative to the working directory where it lies in it."""
    relative = os.path.relpath(path) if _same_drive(path) else os.fspath(path)
    return PurePath(path if relative.startswith(os.pardir) else relative).as_posix()


def common_base(paths: Sequence[str]) -> Path:
    """The directory that `-o` mirrors: the one given, or the nearest that holds all paths."""
    directories = [path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path)) for path in paths]
    return Path(os.path.commonpath([os.path.abspath(directory) for directory in directories]))


def mirrored(path: Path, base: Path, output: Path) -> Path:
    """Where below `output` the file at `path` goes."""
    return output / os.path.relpath(os.path.abspath(path), base)


def write(destination: Path, data: bytes, model: Path) -> None:
    """Put `data` at `destination` in one step, with the mode of `model`; links are followed, hard links stay linked."""
    real = Path(os.path.realpath(destination))
    real.parent.mkdir(parents=True, exist_ok=True)
    if real.exists() and not os.access(real, os.W_OK):
        raise PermissionError(13, "file is read-only", os.fspath(destination))
    if real.exists() and real.stat().st_nlink > 1:
        real.write_bytes(data)
    else:
        _replace(real, data, model.stat())


def _replace(real: Path, data: bytes, model: os.stat_result) -> None:
    import tempfile  # only needed to write, and not free to import

    descriptor, temporary = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        if hasattr(os, "chown"):
            with contextlib.suppress(OSError):  # only root may give files away; the mode is what matters
                os.chown(temporary, model.st_uid, model.st_gid)
        os.chmod(temporary, model.st_mode & 0o7777)
        os.replace(temporary, real)
    except BaseException:
        os.unlink(temporary)
        raise


def _inside(root: Path, exclude: Sequence[str], leave_out: Path | None, notes: list[str]) -> Iterator[Path]:
    """The Python files below `root`, sorted, less what is excluded and what links to somewhere else."""
    real_root = os.path.realpath(root)
    for path in sorted(set(_listed(root))):
        if not path.is_file() or _excluded(path, root, exclude) or (leave_out and _is_below(path, leave_out)):
            continue
        if path.is_symlink() and not _is_below(Path(os.path.realpath(path)), Path(real_root)):
            notes.append(f"{shown(path)}: skipped, a symbolic link out of {shown(root)}")
            continue
        yield path


def _listed(root: Path) -> Iterator[Path]:
    """Every `*.py` below `root` that git does not ignore; without git, that is not in an ignored directory."""
    names = _git_files(root)
    if names is None:
        yield from _walked(root)
        return
    for path in (root / name for name in names):
        if path.suffix == ".py":
            yield path
        elif path != root and path.is_dir() and not path.is_symlink():  # a repository inside the repository
            yield from _listed(path)


def _walked(root: Path) -> Iterator[Path]:
    for directory, below, names in os.walk(root):
        here = Path(directory)
        repositories = [name for name in below if (here / name / ".git").exists()]
        below[:] = [name for name in below if name not in IGNORED_DIRECTORIES and name not in repositories]
        yield from (here / name for name in names if name.endswith(".py"))
        for name in repositories:
            if name not in IGNORED_DIRECTORIES and not (here / name).is_symlink():
                yield from _listed(here / name)


def _git_files(root: Path) -> list[str] | None:
    """What git tracks or would track below `root`; None where it has no say.

    An ignored directory that was asked for by name (say, a package in `.venv`) is walked without git.
    """
    if _git(root, "check-ignore", "-q", ".") is not None:
        return None
    listed = _git(root, "ls-files", "-co", "--exclude-standard", "-z")
    return None if listed is None else [os.fsdecode(name) for name in listed.split(b"\0") if name]


def _git(root: Path, *arguments: str) -> bytes | None:
    """What a git command prints; None when it fails or there is no git."""
    environment = {name: value for name, value in os.environ.items() if name not in _GIT_SAYS_WHERE}
    try:
        done = subprocess.run(["git", *arguments], cwd=root, env=environment, capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def _excluded(path: Path, root: Path, patterns: Iterable[str]) -> bool:
    """A pattern may name a file, a directory, or a path below `root` or below the working directory."""
    below = path.relative_to(root)
    names = {*below.parts, *_leading(below), *_leading(PurePath(shown(path)))}
    return any(fnmatch.fnmatch(name, pattern.rstrip("/")) for pattern in patterns for name in names)


def _leading(path: PurePath) -> list[str]:
    """`a/b/c` -> `a/b/c`, `a/b`, `a`."""
    return [path.as_posix(), *(parent.as_posix() for parent in path.parents if parent.name)]


def _is_below(path: Path, directory: Path) -> bool:
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(directory))


def _same_drive(path: Path) -> bool:
    return Path(os.path.abspath(path)).drive == Path.cwd().drive
