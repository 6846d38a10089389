"""Results that a long run keeps in files, so that it goes on behind the last one when it is ended and begun again.

A result stands for the code and the options that it was made with: one of another commit is refused, not counted.
"""

from __future__ import annotations

import hashlib
import pickle
import platform
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch

Result = TypeVar("Result")
ROOT = Path(__file__).parent.parent
SOURCES = ("autograph_torch/**/*.py", "passes/**/*.py", "tests/*.py")


def kept(file: Path, asked: str, make: Callable[[], Result]) -> Result:
    """What `file` holds, or what `make` gives, which it holds from then on.

    Args:
        file: Where the result is kept; read by `pickle`, so one that this module has written.
        asked: All that the result depends on beside the code: what another run must have asked for, too.
        make: Makes the result.

    Raises:
        ValueError: The file is of another run.
    """
    if file.exists():
        asked_there, result = pickle.loads(file.read_bytes())
        if asked_there != asked:
            raise ValueError(f"{file}: is of another run. Expected {asked}, found {asked_there}: keep it elsewhere.")
        return result
    result = make()
    file.parent.mkdir(parents=True, exist_ok=True)
    written = file.with_suffix(".part")  # a run may be ended while it writes
    written.write_bytes(pickle.dumps((asked, result)))
    written.replace(file)
    return result


def code() -> str:
    """The versions of Python and torch and a digest of the sources: the same for the same commit."""
    digest = hashlib.sha256()
    for pattern in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{platform.python_version()}, torch {torch.__version__}, {digest.hexdigest()[:16]}"
