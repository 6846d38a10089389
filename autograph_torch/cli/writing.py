"""Writing a file so that at every moment either the old or the new text can be found, also on a full disk or a kill.

The new text goes to a file of its own beside the old one, which then takes its place in one step. A file with several
hard links is the exception: one step would split them. It is overwritten, with a copy of the old text beside it until
the new one is complete.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


def write(destination: Path, data: bytes, model: Path) -> None:
    """Put `data` at `destination` with the mode of `model`; symbolic links are followed, hard links stay linked."""
    status = model.stat()
    real = Path(os.path.realpath(destination))
    real.parent.mkdir(parents=True, exist_ok=True)
    if real.exists():
        open(real, "r+b").close()  # a file that is not to be written must not be replaced either
        if real.stat().st_nlink > 1:
            _overwrite(real, data)
            return
    _replace(real, data, status)


def _replace(real: Path, data: bytes, model: os.stat_result) -> None:
    with _temporary(real, data) as temporary:
        if hasattr(os, "chown"):
            with contextlib.suppress(OSError):  # only root may give files away; the mode is what matters
                os.chown(temporary, model.st_uid, model.st_gid)
        os.chmod(temporary, model.st_mode & 0o7777)
        os.replace(temporary, real)


def _overwrite(real: Path, data: bytes) -> None:
    """Write into the file itself; the copy of the old text stays where it is if it cannot be put back."""
    old = real.read_bytes()
    with _temporary(real, old) as backup:
        try:
            _fill(real, data)
        except BaseException:
            try:
                _fill(real, old)
            except OSError as error:
                kept = backup.rename(f"{real}.orig")
                raise OSError(error.errno, f"{error.strerror}; the old text is in {kept.name}") from error
            raise


def _fill(real: Path, data: bytes) -> None:
    with open(real, "r+b") as stream:
        stream.write(data)
        stream.truncate()
        stream.flush()
        os.fsync(stream.fileno())


@contextlib.contextmanager
def _temporary(real: Path, data: bytes) -> Iterator[Path]:
    """A file beside `real` that holds `data`; afterwards it is gone, unless it was moved."""
    descriptor, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())  # some file systems find out only now that they are full
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
