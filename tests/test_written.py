"""Programs do what eager Python does, too, in the files that `autograph-torch convert` writes of them.

As Python runs these: with the operators that torch runs one by one; and, with the slow tests, under torch.compile.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import pytest

from tests.harness import Program, Verdict, check
from tests.programs import all_programs
from tests.written import both, of_factory, written_programs, written_text

PROGRAMS = {program.name: program for program in all_programs()}
TOPICS = sorted({program.topic for program in PROGRAMS.values()})
# A log record in a handler names the function that the handler's lines have become.
NAMES_ITS_FUNCTION = "reraise_with_context"


@lru_cache
def programs(topic: str) -> Mapping[str, tuple[Program, Program]]:
    return written_programs(Path(__file__).parent / "programs" / f"{topic}.py", f"tests.programs.{topic}")


@pytest.mark.parametrize("topic", TOPICS)
def test_as_python_runs_them(topic: str) -> None:
    assert len(programs(topic)) == sum(program.topic == topic for program in PROGRAMS.values())
    verdicts = {name: check(plain, "as it is", changed=other) for name, (plain, other) in programs(topic).items()}
    wrong = {name: verdict.reason for name, verdict in verdicts.items() if verdict.kind != "equal"}
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled(name: str) -> None:
    plain, other = programs(PROGRAMS[name].topic)[name]
    verdict = check(plain, "as it is on eager", changed=other)
    if verdict.kind == "refused":
        pytest.xfail(verdict.reason)
    assert verdict.kind == "equal", verdict.reason


TEXT = """
import torch
from tests.harness import program, vec


@program(inputs=[lambda: (vec(1),), lambda: (vec(-1),)])
def halved(x: torch.Tensor):
    if x.sum() > 0:
        x = x / 2
        print("half")
    return x
"""


def verdict_on(changed: str) -> Verdict:
    plain, other = (module.halved.__program__ for module in both(TEXT, changed, "tests.programs.cell"))
    return check(plain, "as it is", changed=other)


def test_a_difference_is_seen() -> None:
    written = written_text(TEXT)
    assert "ag.cond" in written
    assert verdict_on(written).kind == "equal"
    assert "result" in verdict_on(written.replace("x / 2", "x / 3")).reason
    assert "events" in verdict_on(written.replace('print("half")', "pass").replace('ag.print("half")', "pass")).reason


def test_a_program_that_stays_as_it_is() -> None:
    assert of_factory(PROGRAMS["halved"] if "halved" in PROGRAMS else next(iter(PROGRAMS.values())), "x = 1\n") is None
