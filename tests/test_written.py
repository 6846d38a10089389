"""Programs do what eager Python does, too, in the files that `autograph-torch convert` writes of them.

As Python runs these: with the operators that torch runs one by one; and, with the slow tests, under torch.compile.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import pytest

from tests.harness import Program, Verdict, check
from tests.programs import programs_by_name
from tests.written import both, of_factory, written_programs, written_text

PROGRAMS = programs_by_name()
TOPICS = sorted({program.topic for program in PROGRAMS.values()})


@lru_cache
def programs(topic: str) -> Mapping[str, tuple[Program, Program]]:
    return written_programs(Path(__file__).parent / "programs" / f"{topic}.py", f"tests.programs.{topic}")


@pytest.mark.parametrize("topic", TOPICS)
def test_as_python_runs_them(topic: str) -> None:
    assert len(programs(topic)) == sum(program.topic == topic for program in PROGRAMS.values()) > 0
    verdicts = {name: check(plain, "as it is", changed=other) for name, (plain, other) in programs(topic).items()}
    wrong = {name: verdict.reason for name, verdict in verdicts.items() if verdict.kind != "equal"}
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled(name: str) -> None:
    plain, other = programs(PROGRAMS[name].topic)[PROGRAMS[name].name]
    verdict = check(plain, "as it is on eager", changed=other)
    if verdict.kind == "refused":
        pytest.xfail(verdict.reason)
    assert verdict.kind == "equal", verdict.reason


BEHIND = """
import torch
from tests.harness import program, vec


class Cells:
    def __init__(self, v):
        self.v = v

    def __setitem__(self, i, value):
        self.v = torch.where(torch.arange(2) == i, value, self.v)


@program(inputs=[lambda: (vec(1, 2), vec(1), 2), lambda: (vec(1, 2), vec(-1), 2)])
def written_behind(x: torch.Tensor, s: torch.Tensor, k: int):
    cells, last = Cells(x), x

    def bump(q):
        nonlocal last
        cells.v = cells.v + q
        if q.sum() > 0.4:
            last = q
        return cells.v

    if s > 0.3:
        k += k
    elif s > 0.3:
        if s > 0.3:
            return last
    else:
        cells = Cells(bump(last))
    x = last
    if s > 0.3:
        cells[0] = s
        x = last
    return last, cells.v, k
"""


def test_a_function_of_ours_writes_to_an_object_from_around() -> None:
    written = written_text(BEHIND)
    assert "def after" in written
    plain, other = (module.written_behind.__program__ for module in both(BEHIND, written, "tests.programs.cell"))
    assert check(plain, "as it is", changed=other).kind == "equal"


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


METHODS = """
import torch
from torch import nn
from tests.harness import program, vec

SIGNS = [lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, 3),), lambda: (vec(-3, -2, 0),)]


class Count:
    def __init__(self):
        self.n = 0
        self.seen = 0

    def more(self, x: torch.Tensor):
        if x > 0:
            self.n = self.n + 1
            self.seen = 1
        if x > 2:
            self.seen = 2


@program(inputs=SIGNS, factory=True)
def methods_in_turn():
    one = Count()

    def run(x: torch.Tensor):
        for v in x:
            one.more(v)
        return x * one.n, one.seen

    return run


@program(inputs=SIGNS)
class buffers_in_turn(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("steps", torch.tensor(0))

    def forward(self, x: torch.Tensor):
        if x.sum() > 0:
            self.mean = self.mean * 0.5 + x
            self.steps = self.steps + 1
        return x - self.mean, self.steps
"""


@pytest.mark.parametrize("name", ["methods_in_turn", "buffers_in_turn"])
def test_attributes_stay_variables(name: str) -> None:
    """There is no other text of a file: were they refused, there would be no graph."""
    plain, other = (
        getattr(one, name).__program__ for one in both(METHODS, written_text(METHODS), "tests.programs.cell")
    )
    assert check(plain, "as it is on eager", changed=other).kind == "equal"


def test_a_difference_is_seen() -> None:
    written = written_text(TEXT)
    assert "ag.cond" in written
    assert verdict_on(written).kind == "equal"
    assert "result" in verdict_on(written.replace("x / 2", "x / 3")).reason
    assert "events" in verdict_on(written.replace('ag.effect(print, "half")', "pass")).reason


def test_a_program_that_stays_as_it_is() -> None:
    assert of_factory(next(iter(PROGRAMS.values())), "x = 1\n") is None
