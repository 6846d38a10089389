"""A stand-in for the compiler, so that these tests are about the command line alone, and a file for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autograph_torch.diagnostics import Diagnostic, SourceError

FILE = b"""\
import torch
a = 1
b = 2
c = 3
tensor_if = 4  # why
d = 5
e = 6
f = 7
g = 8
h = 9
i = 10
j = 11
k = tensor_if
leave = 12
"""


@dataclass(frozen=True)
class Options:
    """As in the real pipeline."""

    target: str = "autograph"
    left_out: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Converted:
    output: bytes
    changed: bool
    diagnostics: tuple[Diagnostic, ...]


def convert_source(raw: bytes, filename: str, options: Options) -> Converted:
    """Each line says what is to become of it; a rewritten file gets an import at its top."""
    diagnostics, lines = [], []
    for number, line in enumerate(raw.split(b"\n"), 1):
        if b"crash" in line:
            raise ZeroDivisionError("no luck")
        if b"wrong" in line:
            raise SourceError(Diagnostic("AG301", filename, number, 3, number, "invalid syntax", "", line.decode()))
        if b"tensor_if" in line:
            message = "'if' on a tensor -> ag.cond"
            diagnostics.append(Diagnostic("AG101", filename, number, 1, number, message, "", line.decode()))
        if b"leave" in line:
            message = "left alone: 'yield' in the branch"
            diagnostics.append(Diagnostic("AG201", filename, number, 5, number, message, "take it out", line.decode()))
        lines.append(line.replace(b"tensor_if", b"ag_cond"))
    output = b"\n".join(lines)
    if output != raw:
        output = b"import ag\n" + output
    return Converted(output, output != raw, tuple(diagnostics))


CONVERTED = convert_source(FILE, "m.py", Options()).output


@dataclass(frozen=True)
class Ran:
    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        return self.stdout.decode()


Run = Callable[..., Ran]
