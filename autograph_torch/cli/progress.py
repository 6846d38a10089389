"""A progress bar on stderr: on a terminal only, and only once the work has taken a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 1.0  # seconds without a bar


def tracked(done: Iterable[T], total: int, wanted: bool = True) -> Iterator[T]:
    """Hand on what is done, one by one, and count it."""
    if not wanted or not sys.stderr.isatty():
        yield from done
        return
    pending = iter(done)
    started = time.monotonic()
    for count, one in enumerate(pending, 1):
        yield one
        if time.monotonic() - started > PATIENCE and count < total:
            yield from _with_bar(pending, count, total)


def _with_bar(pending: Iterator[T], count: int, total: int) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("converting", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=total, completed=count)
        for one in pending:
            yield one
            bar.advance(task)
