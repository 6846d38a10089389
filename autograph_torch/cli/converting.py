"""Files through the compiler, in one process or several; whatever goes wrong becomes part of the file's result."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence

from autograph_torch import collector
from autograph_torch.cli import files
from autograph_torch.cli.review import Result
from autograph_torch.cli.running import DEFAULT, Wanted
from autograph_torch.diagnostics import AutographError, Diagnostic

FEW_FILES = 32  # up to here a second process costs more than it saves
_DEPTH = 5_000  # of recursion: enough for sums of a thousand terms, and within the stack of any thread


def convert_files(targets: Sequence[files.Target], jobs: int | None, wanted: Wanted = DEFAULT) -> Iterator[Result]:
    """The result of each target, in order."""
    convert = functools.partial(convert_file, wanted=wanted)
    if jobs is None:
        jobs = (os.cpu_count() or 1) if len(targets) > FEW_FILES else 1
    if jobs == 1 or len(targets) < 2:
        yield from map(convert, targets)
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    import autograph_torch.pipeline  # noqa: F401  before the processes fork, so that each has it already

    left = deque(targets)
    try:
        with ProcessPoolExecutor(jobs) as pool:
            for result in pool.map(convert, targets, chunksize=4):
                left.popleft()
                yield result
    except BrokenProcessPool:  # out of memory, say: one of the files that are left has killed its process
        yield from map(functools.partial(_convert_apart, wanted=wanted), left)


def _convert_apart(target: files.Target, wanted: Wanted) -> Result:
    """Convert one file in a process of its own, which may die."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    try:
        with ProcessPoolExecutor(1) as pool:
            return pool.submit(convert_file, target, wanted).result()
    except BrokenProcessPool:
        message = "internal error, please report it: the process that converted it was killed"
        return Result(target.shown, b"", b"", (Diagnostic("AG390", target.shown, 1, 1, 1, message),))


def convert_file(target: files.Target, wanted: Wanted = DEFAULT) -> Result:
    """Read and convert one file."""
    try:
        raw = files.read(target.path)
    except OSError as error:
        failure = files.failure(target.shown, f"cannot be read: {error.strerror}")
        return Result(target.shown, b"", b"", (failure,))
    return convert_bytes(raw, target.shown, wanted)


def convert_bytes(raw: bytes, shown: str, wanted: Wanted = DEFAULT) -> Result:
    """Convert one file's bytes."""
    if b"torch" not in raw and b"autograph" not in raw:
        return Result(shown, raw, raw)
    from autograph_torch.pipeline import convert_source

    try:
        with _deep_recursion(), collector.paused():
            converted = convert_source(raw, shown, wanted.options(shown))
    except AutographError as error:
        return Result(shown, raw, raw, (error.diagnostic,))
    except Exception as error:
        message = f"internal error, please report it: {type(error).__name__}: {error}"
        return Result(shown, raw, raw, (Diagnostic("AG390", shown, 1, 1, 1, message),))
    return Result(shown, raw, converted.output, converted.diagnostics)


@contextlib.contextmanager
def _deep_recursion() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
