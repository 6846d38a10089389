"""Programs as `autograph-torch convert` writes their files.

    verdict = check(plain, "as it is", changed=changed)             the file as Python runs it
    verdict = check(plain, "as it is on eager", changed=changed)    and under torch.compile

Both texts are run under the name of one module, so that the classes of the one count as those of the other. Lines are
not compared: they are those of each text.
"""

from __future__ import annotations

import linecache
import types
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch

from autograph_torch.pipeline import Options, convert_source
from tests.harness import Program, programs_of


def written_text(text: str, *, assume_unknown: bool = False) -> str:
    """What `autograph-torch convert` makes of a file."""
    return convert_source(text.encode(), "program.py", Options(assume_unknown=assume_unknown)).output.decode()


def module_of(text: str, name: str, filename: str) -> types.ModuleType:
    """The module of this name that a text makes. What it draws at random, it draws alike each time."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    made = types.ModuleType(name)
    made.__file__ = filename
    torch.manual_seed(0)
    exec(compile(text, filename, "exec", dont_inherit=True), vars(made))
    return made


def both(text: str, changed: str, name: str) -> tuple[types.ModuleType, types.ModuleType]:
    """The modules of a text and of the written one; their files have the name that places in events have."""
    file = f"{name.rpartition('.')[2]}.py"
    root = Path(__file__).parent
    return module_of(text, name, str(root / "plain" / file)), module_of(changed, name, str(root / "changed" / file))


def written_programs(file: Path, name: str) -> Mapping[str, tuple[Program, Program]]:
    """The programs of a file, and those of the file that is written of it."""
    text = file.read_text()
    plain, changed = both(text, written_text(text, assume_unknown=True), name)
    other = {program.name: program for program in programs_of(changed)}
    return {program.name: (program, other[program.name]) for program in programs_of(plain)}


def of_factory(program: Program, text: str) -> tuple[Program, Program] | None:
    """A program whose subject `make` of a text makes, and that of the written text; None where that is the same."""
    changed = written_text(text)
    if changed == text:
        return None
    plain, other = both(text, changed, "tests.cell")
    return replace(program, make=plain.make), replace(program, make=other.make)
