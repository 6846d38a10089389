"""Which files a command works on.

Directories are walked for `*.py`; what git ignores there is skipped. A file named on the command line is done, unless
exclusions are forced. What cannot be looked at is a failure, never skipped in silence.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import re
import stat
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from autograph_torch.diagnostics import Diagnostic

# Directories nobody wants converted, for trees that no git repository describes.
IGNORED_DIRECTORIES = frozenset(
    {
        ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".svn",
        ".tox", ".venv", "__pycache__", "build", "dist", "node_modules", "venv",
    }
)  # fmt: skip

_ENDLESS = 64 << 20  # bytes; no text of a program is as long

_UNREADABLE = re.compile(rb"^warning: could not open directory '(.*)/': (.*)$", re.MULTILINE)

# Set inside git's hooks: they would make git look at the repository of the hook instead of the one asked about.
_GIT_SAYS_WHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")


@dataclass(frozen=True)
class Target:
    """One file to work on; `shown` is how messages and diffs name it."""

    path: Path
    shown: str


@dataclass(frozen=True)
class Exclusion:
    """What to leave out: names of files or directories, or paths below a root, the working directory or `base`."""

    patterns: tuple[str, ...] = ()
    forced: bool = False  # also leave out what the command line names
    base: Path | None = None  # where the patterns were written down

    def covers(self, path: Path, root: Path | None = None) -> bool:
        if not self.patterns:
            return False
        names = {*_parts(path, root), *_leading(PurePath(shown(path)))}
        if self.base is not None and _is_below(path, self.base):
            names.update(_leading(PurePath(os.path.relpath(path, self.base))))
        return any(fnmatch.fnmatch(name, pattern.rstrip("/")) for pattern in self.patterns for name in names)


@dataclass(frozen=True)
class Found:
    """What the command line's paths came to."""

    targets: tuple[Target, ...]
    notes: tuple[str, ...]
    failures: tuple[Diagnostic, ...]


def find(paths: Sequence[str], exclusion: Exclusion = Exclusion(), leave_out: Path | None = None) -> Found:
    """The files that `paths` stand for, in order and each once; nothing below `leave_out`."""
    targets: dict[str, Target] = {}
    walk = _Walk(exclusion, leave_out, [], [])
    for path in map(Path, paths):
        for file in walk.files(path):
            targets.setdefault(os.path.abspath(file), Target(file, shown(file)))
    return Found(tuple(targets.values()), tuple(walk.notes), tuple(walk.failures))


def without_links_to_others(targets: Sequence[Target]) -> list[Target]:
    """`targets` without the symbolic links to files that are targets anyway: those would be written twice."""
    links = {target for target in targets if os.path.islink(target.path)}
    real = {os.path.realpath(target.path) for target in targets if target not in links}
    return [target for target in targets if target not in links or os.path.realpath(target.path) not in real]


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


def read(path: Path) -> bytes:
    """All that a file or a pipe holds.

    Raises:
        OSError: it cannot be read, or it has no end, as `/dev/zero`.
    """
    with path.open("rb") as stream:
        if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return stream.read()
        raw = stream.read(_ENDLESS)
    if len(raw) == _ENDLESS:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return raw


def failure(path: str, message: str) -> Diagnostic:
    """An error about a whole file."""
    return Diagnostic("AG301", path, 1, 1, 1, message)


@dataclass(frozen=True)
class _Walk:
    """One search, and what it has to say."""

    exclusion: Exclusion
    leave_out: Path | None
    notes: list[str]
    failures: list[Diagnostic]

    def files(self, path: Path) -> Iterator[Path]:
        """The files that one path of the command line stands for."""
        try:
            is_directory = stat.S_ISDIR(os.stat(path).st_mode)
        except OSError as error:
            self.fail(path, error.strerror)
            return
        if is_directory:
            yield from self.inside(path)
        elif not (self.exclusion.forced and self.exclusion.covers(path)):
            yield path

    def inside(self, root: Path) -> Iterator[Path]:
        """The Python files below `root`, sorted, less what is excluded and what links to somewhere else."""
        real_root = Path(os.path.realpath(root))
        for path in sorted(set(self.listed(root))):
            if not _may_be_file(path) or self.exclusion.covers(path, root):
                continue
            if self.leave_out is not None and _is_below(path, self.leave_out):
                continue
            if os.path.islink(path) and not _is_below(Path(os.path.realpath(path)), real_root):
                self.notes.append(f"{shown(path)}: skipped, a symbolic link out of {shown(root)}")
                continue
            yield path

    def listed(self, root: Path) -> Iterator[Path]:
        """Every `*.py` below `root` that git does not ignore; without git, that is not in an ignored directory."""
        names = self.git_files(root)
        if names is None:
            yield from self.walked(root)
            return
        for path in (root / name for name in names):
            if path.suffix == ".py":
                yield path
            # A repository inside the repository.
            elif path != root and os.path.isdir(path) and not os.path.islink(path):
                yield from self.listed(path)

    def walked(self, root: Path) -> Iterator[Path]:
        """What is below `root`, without asking git; links to directories are not followed."""
        for directory, below, names in os.walk(root, onerror=lambda error: self.fail(error.filename, error.strerror)):
            here = Path(directory)
            below[:] = [name for name in below if name not in IGNORED_DIRECTORIES]
            repositories = [name for name in below if os.path.exists(here / name / ".git")]
            below[:] = [name for name in below if name not in repositories]
            yield from (here / name for name in names if name.endswith(".py"))
            for name in repositories:
                if not os.path.islink(here / name):
                    yield from self.listed(here / name)

    def git_files(self, root: Path) -> list[str] | None:
        """What git tracks or would track below `root`; None where it has no say.

        An ignored directory that was asked for by name (say, a package in `.venv`) is walked without git.
        """
        if _git(root, "check-ignore", "-q", ".") is not None:
            return None
        listed = _git(root, "ls-files", "-co", "--exclude-standard", "-z")
        if listed is None:
            return None
        for name, reason in _UNREADABLE.findall(listed.stderr):
            self.fail(root / os.fsdecode(name), reason.decode())
        return [os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]

    def fail(self, path: str | Path, reason: str | None) -> None:
        self.failures.append(failure(shown(Path(path)), f"cannot be read: {reason}"))


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    """A git command that succeeded; None when it fails or there is no git."""
    environment = {name: value for name, value in os.environ.items() if name not in _GIT_SAYS_WHERE}
    environment["LC_ALL"] = "C"
    try:
        done = subprocess.run(["git", *arguments], cwd=root, env=environment, capture_output=True, check=False)
    except OSError:
        return None
    return done if done.returncode == 0 else None


def _may_be_file(path: Path) -> bool:
    """Whether a path is a regular file, or cannot be asked: reading it will then say why."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except PermissionError:
        return True
    except OSError:
        return False


def _parts(path: Path, root: Path | None) -> list[str]:
    """The single names and the paths that a pattern may mean: those below the root, or below the working directory."""
    below = path.relative_to(root) if root is not None else PurePath(shown(path))
    return [*below.parts, *_leading(below)]


def _leading(path: PurePath) -> list[str]:
    """`a/b/c` -> `a/b/c`, `a/b`, `a`."""
    return [path.as_posix(), *(parent.as_posix() for parent in path.parents if parent.name)]


def _is_below(path: Path, directory: Path) -> bool:
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(directory))


def _same_drive(path: Path) -> bool:
    return Path(os.path.abspath(path)).drive == Path.cwd().drive
