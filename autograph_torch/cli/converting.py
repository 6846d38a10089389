"""Files through the compiler, in one process or several; whatever goes wrong becomes part of the file's result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from autograph_torch.cli import files
from autograph_torch.cli.review import Result
from autograph_torch.diagnostics import AutographError, Diagnostic

FEW_FILES = 32  # up to here a second process costs more than it saves
T = TypeVar("T")


def each(work: Callable[[files.Target], T], targets: Sequence[files.Target], jobs: int | None) -> Iterator[T]:
    """What `work` makes of each target, in order; `work` must be a function of a module, for other processes."""
    if jobs is None:
        jobs = (os.cpu_count() or 1) if len(targets) > FEW_FILES else 1
    if jobs == 1 or len(targets) < 2:
        yield from map(work, targets)
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(work, targets, chunksize=4)


def convert_file(target: files.Target) -> Result:
    """Read and convert one file."""
    try:
        raw = target.path.read_bytes()
    except OSError as error:
        failure = files.failure(target.shown, f"cannot be read: {error.strerror}")
        return Result(target.shown, b"", b"", (failure,))
    return convert_bytes(raw, target.shown)


def convert_bytes(raw: bytes, shown: str) -> Result:
    """Convert one file's bytes."""
    if b"torch" not in raw and b"autograph" not in raw:
        return Result(shown, raw, raw)
    from autograph_torch.pipeline import Options, convert_source

    try:
        converted = convert_source(raw, shown, Options())
    except AutographError as error:
        return Result(shown, raw, raw, (error.diagnostic,))
    except Exception as error:
        message = f"internal error, please report it: {type(error).__name__}: {error}"
        return Result(shown, raw, raw, (Diagnostic("AG390", shown, 1, 1, 1, message),))
    return Result(shown, raw, converted.output, converted.diagnostics)
