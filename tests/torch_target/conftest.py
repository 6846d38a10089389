"""The file programs.py observed and converted once for all tests."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograph_torch.pipeline import Converted, Options, convert_source
from autograph_torch.source.file import SourceFile
from autograph_torch.trial.observer import OBSERVER, Observer, observed_code
from tests.harness import Program, fresh, programs_of, run

FILE = Path(__file__).with_name("programs.py")


@dataclass(frozen=True)
class Target:
    """programs.py as it is, and converted."""

    original: dict[str, Program]
    converted: dict[str, Program]
    done: Converted


def module_of(code: types.CodeType | str, name: str, **given: object) -> types.ModuleType:
    """A module `tests.NAME` that runs the code."""
    module = types.ModuleType(f"tests.{name}")
    module.__dict__.update(given)
    sys.modules[module.__name__] = module
    exec(code, module.__dict__)
    return module


def by_name(module: types.ModuleType) -> dict[str, Program]:
    return {program.name: program for program in programs_of(module)}


def convert_programs(folder: Path) -> Target:
    raw = FILE.read_bytes()
    observer = Observer()
    observed = module_of(observed_code(SourceFile.read(raw, str(FILE))), "observed", **{OBSERVER: observer})
    for program in programs_of(observed):
        subject = fresh(program)
        for factory in program.inputs:
            run(subject, subject, factory, program.grad)
    done = convert_source(raw, str(FILE), Options(target="torch", seen=observer.sites))
    path = folder / "programs_for_torch.py"
    path.write_bytes(done.output)
    original = module_of(compile(raw, str(FILE), "exec"), "as_they_are")
    converted = module_of(compile(done.output, str(path), "exec"), "for_torch")
    return Target(by_name(original), by_name(converted), done)


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    return convert_programs(tmp_path_factory.mktemp("torch_target"))
